"""The papers behind the quantities of a system, as reports name them."""

BATTLE_HEMPSTEAD = "Battle & Hempstead, sections IV-C and V-C"
ENERGY_ROOFLINE = "Choi et al., IPDPS 2014, eqs 1 and 3"
PLATFORMS = "Choi, Dukhan, Liu, Vuduc, IPDPS 2014"
LOGCA = "Altaf & Wood, ISCA 2017, eqs 1, 2 and 8"
PCIE = "Neugebauer et al., SIGCOMM 2018, and the PCI Express base specification 5.0"

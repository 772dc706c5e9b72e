"""Names of the cores in tables, each with the name of its function, without reading a table.

May import nothing: this is loaded only for names.
"""

_GENERATORS = """
    des jacobi fft aes128 aes256 aes128_gcm aes128_xts ascon_aead ascon_hash chacha20 crc32 sha2_256
    sha3_256
"""

cores = {
    "dse.cores.characterised:characterised_core": " ".join(
        f"{name}_{library}"
        for name in _GENERATORS.split()
        for library in ("sky130", "ihp130", "asap7")
    ),
    "dse.cores.published:lightweight_core": """
        drygascon_65nm elephant_65nm photon_beetle_65nm pyjamask_65nm romulus_65nm
        subterranean_65nm tinyjambu_65nm xoodyak_65nm
    """,
    "dse.cores.published:single_core": """
        asics_aes_180nm asics_aes_decryption_180nm secworks_aes_180nm secworks_aes_cyclone_iv
        secworks_aes_cyclone_v secworks_chacha_cyclone_iv secworks_chacha_cyclone_v
        secworks_sha256_cyclone_iv vitis_aes_cbc vitis_aes_cbc_decryption vitis_aes_xts
        vitis_hmac_sha1 vitis_rc4 vitis_crc32 vitis_adler32 vitis_sha256 vitis_sha512 vitis_sha3_256
        vitis_deflate vitis_lz4 vitis_snappy vitis_lz4_decompression vitis_snappy_decompression
        vitis_deflate_decompression
    """,
}

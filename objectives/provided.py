"""Names of the records in tables of the catalogue, each with the name of its function.

May import nothing: this is loaded only for names, without reading a table.
"""

interfaces = {
    "dse.objectives.catalogue:interface_called": """
        discrete_gpu apu ultrasparc_t2 sparc_t3 sparc_t4_engine sparc_t4_instruction sandy_bridge
    """,
    "dse.objectives.catalogue:attachment_called": """
        dsa dsa_async dsa_batch qat_kernel qat_user alveo_u200_opencl alveo_u250_xrt xdma_driver
        rtx_5060_cuda mi300x_rocm rocc axi_dma nfp6000_e5_2637_v3 nfp6000_e5_2630_v4
        nfp6000_e5_2620_v3 nfp6000_e5_2620_v2 nfp6000_e5_2630 nfp6000_e3_1226_v3
    """,
}

kernels = {
    "dse.objectives.catalogue:kernel_called": """
        des 3des fft64 jacobi aes_ultrasparc_t2 aes_sparc_t4 aes_core_i7_2600 aes_xts_vaes
        aes_128_xts_vaes aes_xts_c aes_128_gcm_aesni aes_128_cbc_c_a53 aes_128_cbc_a53
        aes_128_gcm_ice_lake aes_256_gcm_ice_lake aes_256_gcm_aesni_ice_lake aes_128_gcm_zen5
        aes_256_gcm_zen5 aes_128_gcm_zen3 sha256_zen5 sha256_zen2 sha256_cascade_lake zlib_1 zlib_6
        lz4 aes_cbc_power10 aes_cbc_decryption_power10
    """,
}

platforms = {
    "dse.objectives.catalogue:platform_called": """
        desktop_cpu nuc_cpu nuc_gpu apu_cpu apu_gpu gtx_580 gtx_680 gtx_titan xeon_phi pandaboard
        arndale_cpu arndale_gpu
    """,
}

functions = {
    "dse.objectives.catalogue:function_called": """
        aead aes_gcm chacha20_poly1305 ascon_aead drygascon elephant photon_beetle pyjamask romulus
        subterranean tinyjambu xoodyak block_cipher aes aes_decryption aes_cbc aes_cbc_decryption
        des triple_des disk_encryption aes_xts stream_cipher rc4 chacha20 chacha8
        message_authentication hash sha256 sha512 sha3_256 ascon_hash hmac_sha1 checksum crc32
        adler32 compression deflate lz4 snappy decompression deflate_decompression lz4_decompression
        snappy_decompression transform fft64 stencil
    """,
}

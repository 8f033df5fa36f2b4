import SwitchyardBytes
package import SwitchyardServerKit

/// Keys that sign tokens of tests, since making one takes seconds in a debug build.
package enum TestKeys {
    /// For tests alone: everybody can read it here.
    package static let one = key(
        p: "d16d1af899069b3c905c169f23178c522b5f0a1592444cd6dac711207fc75ff8c297740ed719a4e87188e49308a92ff1"
            + "1d12679fa77c3ee5aa3d66f6538f246953f1e922f6efc397c6ea1acae2075ff21b74319473120035a748e8e8bca05921"
            + "7b58e9b4bde91f921c5327f75a887c4c0eb961898d1944917f12d86ce6789a11",
        q: "baaefb1706442d92fc4baa18071da7045d730d56f2219d6da783d4bc6b140414ea9c8741dd4819d67bbd096298caaa0d"
            + "5f6de34f16ff3bb79e31ce306d5d808bd81e0fd2929c43d0bfedad222d1750e3caf50ec87a22bc12db258a60ab5fa499"
            + "016d85689bd395086c31551d474311ff51d6b658ee86b3b7c2577f4f8b48f46d")

    /// As public as the first.
    package static let another = key(
        p: "eaffd5724f4238b3440938c8efc7feae77a9a3cab256bc59dd8d6a607b5062d351c58299def1cd88c113bb57a1f61de2"
            + "98631822ab3442f2b5887a160fab4927e539f93bf1706493e8a9f578b617641d682a5ea75b2c005e2b98ecb40f873434"
            + "e18e42e2a17d270242739febca8ec33df444b56a2090cf27d04999c9e69a7e3b",
        q: "d994db9f7943a239359d6e6ab803dde0d8fa95eaa0759a86b3ea17f65b8ed65c7d27141cb6e677b7f1c29badb9afc4ba"
            + "1555c75a87d31ce80ec9d70dc16cae75202d38ae8f808c1855aab10b008d4b9611745ac855d42738e0421b61d678bb1b"
            + "a5f5060f10cd8b32dd86b95d75f7222efe812d6fbf145b7182069e94af9f0f83")

    private static func key(p: String, q: String) -> RSAPrivateKey {
        RSAPrivateKey(p: Hex.decode(p) ?? [], q: Hex.decode(q) ?? [])
    }
}

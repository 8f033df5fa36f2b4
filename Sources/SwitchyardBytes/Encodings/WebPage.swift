extension Collection<UInt8> {
    /// Whether it is a page for people, which no service's interface writes: a proxy, a sign-in page of the network or a
    /// mistyped address has answered.
    package var isWebPage: Bool { first { $0 > 0x20 } == UInt8(ascii: "<") }
}

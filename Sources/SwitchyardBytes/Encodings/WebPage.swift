extension Collection<UInt8> {
    /// Whether it is a web page, which no service's API returns: it comes from a proxy, a network's sign-in page or a wrong
    /// address.
    package var isWebPage: Bool { first { $0 > 0x20 } == UInt8(ascii: "<") }
}

/// The namespace of one run of one check, which isolates it on a shared server.
public struct ConformanceNamespace: Sendable, Hashable, CustomStringConvertible {
    /// Lower-case letters and digits, beginning with a letter: suitable for IDs, addresses and topic names.
    public let rawValue: String

    /// Makes a unique namespace.
    public init() {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        var generator = SystemRandomNumberGenerator()
        rawValue = "t" + String((0..<15).map { _ in alphabet.randomElement(using: &generator)! })
    }

    public var description: String { rawValue }
}

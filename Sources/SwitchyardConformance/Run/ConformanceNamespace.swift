/// The name under which one run of one check keeps everything, so that it meets nobody else on a shared server.
public struct ConformanceNamespace: Sendable, Hashable, CustomStringConvertible {
    /// Lower-case letters and digits, beginning with a letter: fit for ids, addresses and names of topics.
    public let rawValue: String

    /// One that nobody else has.
    public init() {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789")
        var generator = SystemRandomNumberGenerator()
        rawValue = "t" + String((0..<15).map { _ in alphabet.randomElement(using: &generator)! })
    }

    public var description: String { rawValue }
}

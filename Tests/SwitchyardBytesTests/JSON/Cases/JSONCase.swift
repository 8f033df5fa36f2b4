import Testing

/// A text and what a parser does with it. Names begin with `y` for what must be accepted, `n` for what must be refused and
/// `i` for what the grammar leaves to the implementation.
struct JSONCase: Sendable, CustomTestStringConvertible {
    enum Expectation { case accepted, refused }

    let name: String
    let expectation: Expectation
    let bytes: [UInt8]

    init(_ name: String, _ expectation: Expectation, _ bytes: [UInt8]) {
        self.name = name
        self.expectation = expectation
        self.bytes = bytes
    }

    var testDescription: String { name }

    static func text(_ text: String) -> [UInt8] { Array(text.utf8) }
    static func bytes(_ bytes: UInt8...) -> [UInt8] { bytes }
    static func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }
}

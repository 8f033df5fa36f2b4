/// Builds the head of an answer from the header lines that libcurl delivers.
///
/// Drops interim answers (1xx) and trailers, which are lines after the head.
struct ResponseHeadParser {
    enum Progress {
        case going
        /// The final head is complete.
        case complete
        case tooLarge
        case malformed
    }

    private(set) var status = 0
    private(set) var headers: [HTTPHeaders.Field] = []
    private(set) var httpVersion = ""
    private(set) var isComplete = false
    private let limit: Int
    private var size = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Takes one line with its line ending. The limit includes interim heads and trailers.
    mutating func take(_ line: UnsafeRawBufferPointer) -> Progress {
        size += line.count
        guard size <= limit else { return .tooLarge }
        if isComplete { return .going }
        var end = line.count
        while end > 0, line[end - 1] == 0x0A || line[end - 1] == 0x0D { end -= 1 }
        let text = UnsafeRawBufferPointer(rebasing: line[..<end])
        if text.isEmpty {
            guard status >= 200 else { return status == 0 ? .malformed : .going }
            isComplete = true
            return .complete
        }
        if text.starts(with: "HTTP/".utf8) { return begin(text) }
        return add(text)
    }

    private mutating func begin(_ line: UnsafeRawBufferPointer) -> Progress {
        headers.removeAll(keepingCapacity: true)
        guard let space = line.firstIndex(of: 0x20), space > 5, line.count >= space + 4,
            line.count == space + 4 || line[space + 4] == 0x20
        else { return .malformed }
        let code = line[(space + 1)..<(space + 4)]
        guard code.allSatisfy({ (0x30...0x39).contains($0) }) else { return .malformed }
        status = code.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        httpVersion = String(decoding: UnsafeRawBufferPointer(rebasing: line[5..<space]), as: UTF8.self)
        return .going
    }

    private mutating func add(_ line: UnsafeRawBufferPointer) -> Progress {
        if Self.isBlank(line[0]) {
            // A folded line continues the field before it.
            guard !headers.isEmpty else { return .malformed }
            headers[headers.count - 1].value += " " + Self.trimmed(line[...])
            return .going
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return .malformed }
        headers.append(
            HTTPHeaders.Field(
                name: String(decoding: UnsafeRawBufferPointer(rebasing: line[..<colon]), as: UTF8.self),
                value: Self.trimmed(line[(colon + 1)...])))
        return .going
    }

    private static func trimmed(_ text: Slice<UnsafeRawBufferPointer>) -> String {
        var text = text
        while let first = text.first, isBlank(first) { text = text.dropFirst() }
        while let last = text.last, isBlank(last) { text = text.dropLast() }
        return String(decoding: UnsafeRawBufferPointer(rebasing: text), as: UTF8.self)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

import SwitchyardWire

/// Parses requests from the bytes of a connection.
///
/// It is strict, because it replaces servers behind strict front ends: lines end in CRLF, field names are tokens, folding is
/// not supported, and a body with an ambiguous length is refused.
struct HTTPRequestParser {
    enum Step {
        /// All bytes were taken, and more are needed.
        case needsMore
        case head(RequestHead, hasBody: Bool)
        /// A piece of the body, valid as long as the parsed bytes.
        case body(UnsafeRawBufferPointer)
        case end
        /// The client speaks HTTP/2 without having asked; the rest of its opening and its frames follow.
        case http2
        /// The request is refused with this status; nothing more can be read from the connection.
        case refused(status: Int)
    }

    private enum State {
        case head
        case length(remaining: Int)
        case chunkSize
        /// The last piece has been returned, but not the end.
        case complete
        case chunk(remaining: Int)
        case chunkEnd
        case trailers
        case failed
    }

    private let limits: RequestLimits
    private var state = State.head
    /// The head or line in progress.
    private var text: [UInt8] = []
    private var bodySize = 0

    init(limits: RequestLimits) { self.limits = limits }

    /// Whether the bytes of an incomplete request have arrived.
    var isInsideRequest: Bool {
        if case .head = state { !text.isEmpty } else { true }
    }

    /// Takes bytes from the front of `bytes` and returns the first step that they complete.
    mutating func parse(_ bytes: inout UnsafeRawBufferPointer) -> Step {
        do throws(Refusal) {
            return try step(&bytes)
        } catch {
            state = .failed
            return .refused(status: error.status)
        }
    }

    private struct Refusal: Error {
        let status: Int
        static let bad = Refusal(status: 400)
    }

    private mutating func step(_ bytes: inout UnsafeRawBufferPointer) throws(Refusal) -> Step {
        while true {
            switch state {
            case .failed:
                bytes = UnsafeRawBufferPointer(rebasing: bytes[bytes.endIndex...])
                return .needsMore
            case .head:
                guard try takeHead(&bytes) else { return .needsMore }
                guard !text.elementsEqual(Self.http2Opening) else { return .http2 }
                let (head, body) = try parseHead()
                text = []
                bodySize = 0
                state = body
                if case .head = body { return .head(head, hasBody: false) }
                return .head(head, hasBody: true)
            case .complete:
                state = .head
                return .end
            case .length(let remaining):
                guard !bytes.isEmpty else { return .needsMore }
                let piece = take(min(remaining, bytes.count), from: &bytes)
                state = remaining == piece.count ? .complete : .length(remaining: remaining - piece.count)
                return .body(piece)
            case .chunkSize:
                guard try takeLine(&bytes) else { return .needsMore }
                let size = try chunkSize()
                text = []
                bodySize += size
                guard bodySize <= limits.bodySize else { throw Refusal(status: 413) }
                state = size == 0 ? .trailers : .chunk(remaining: size)
            case .chunk(let remaining):
                guard !bytes.isEmpty else { return .needsMore }
                let piece = take(min(remaining, bytes.count), from: &bytes)
                state = remaining == piece.count ? .chunkEnd : .chunk(remaining: remaining - piece.count)
                return .body(piece)
            case .chunkEnd:
                guard try takeLine(&bytes) else { return .needsMore }
                guard text.isEmpty else { throw .bad }
                state = .chunkSize
            case .trailers:
                guard try takeLine(&bytes) else { return .needsMore }
                if !text.isEmpty {
                    text = []  // Trailers are allowed and of no use here.
                    continue
                }
                state = .head
                return .end
            }
        }
    }

    private func take(_ count: Int, from bytes: inout UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let piece = UnsafeRawBufferPointer(rebasing: bytes[..<count])
        bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
        return piece
    }

    // MARK: Lines

    private static let http2Opening = Array("PRI * HTTP/2.0\r\n\r\n".utf8)
    private static let newline = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// Moves one line, without its CRLF, into `text`.
    private mutating func takeLine(_ bytes: inout UnsafeRawBufferPointer) throws(Refusal) -> Bool {
        let end = bytes.firstIndex(of: Self.newline)
        let piece = take(end.map { $0 + 1 } ?? bytes.count, from: &bytes)
        text.append(contentsOf: piece)
        guard text.count <= limits.headSize else { throw Refusal(status: 431) }
        guard end != nil else { return false }
        text.removeLast()
        guard text.popLast() == Self.carriageReturn else { throw .bad }
        return true
    }

    /// Moves a complete head, including its empty line, into `text`.
    private mutating func takeHead(_ bytes: inout UnsafeRawBufferPointer) throws(Refusal) -> Bool {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard byte == Self.newline else { continue }
            // The start of the line does not matter, only whether it was empty.
            let line = UnsafeRawBufferPointer(rebasing: bytes[..<index])
            let isEmpty = endsWithEmptyLine(line)
            let endsInCRLF = index >= 2 ? line[index - 2] == Self.carriageReturn : text.last == Self.carriageReturn
            guard endsInCRLF else { throw .bad }
            if text.count + index == 2 {
                // The protocol says to skip an empty line before a request, sent by some clients.
                text = []
                bytes = UnsafeRawBufferPointer(rebasing: bytes[index...])
                index = 0
                continue
            }
            guard isEmpty else { continue }
            guard text.count + index <= limits.headSize else { throw Refusal(status: 431) }
            text.append(contentsOf: take(index, from: &bytes))
            return true
        }
        text.append(contentsOf: take(bytes.count, from: &bytes))
        guard text.count <= limits.headSize else { throw Refusal(status: 431) }
        return false
    }

    /// Whether `text` and `piece` together end with CRLF CRLF.
    private func endsWithEmptyLine(_ piece: UnsafeRawBufferPointer) -> Bool {
        let wanted: [UInt8] = [13, 10, 13, 10]
        for (distance, byte) in wanted.reversed().enumerated() {
            let index = piece.count - 1 - distance
            let found: UInt8
            if index >= 0 {
                found = piece[index]
            } else if text.count + index >= 0 {
                found = text[text.count + index]
            } else {
                return false
            }
            if found != byte { return false }
        }
        return true
    }

    private func chunkSize() throws(Refusal) -> Int {
        let digits = text.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        guard !digits.isEmpty, digits.count <= 15, let size = Int(String(decoding: digits, as: UTF8.self), radix: 16),
            digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-")
        else { throw .bad }
        return size
    }

    // MARK: Head

    private func parseHead() throws(Refusal) -> (RequestHead, State) {
        var lines = text.split(separator: Self.newline, omittingEmptySubsequences: false).map { $0.dropLast() }
        lines.removeLast()  // behind the last line feed
        lines.removeLast()  // the empty line
        let parts = lines[0].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, Self.isToken(parts[0]), !parts[1].isEmpty,
            parts[1].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw .bad }
        let minor: Int
        switch String(decoding: parts[2], as: UTF8.self) {
        case "HTTP/1.1": minor = 1
        case "HTTP/1.0": minor = 0
        case let version where version.hasPrefix("HTTP/"): throw Refusal(status: 505)
        default: throw .bad
        }
        guard lines.count - 1 <= limits.fieldCount else { throw Refusal(status: 431) }
        var fields: [HTTPHeaders.Field] = []
        fields.reserveCapacity(lines.count - 1)
        for line in lines.dropFirst() { fields.append(try Self.field(line)) }
        let head = RequestHead(
            method: HTTPMethod(rawValue: String(decoding: parts[0], as: UTF8.self)),
            target: String(decoding: parts[1], as: UTF8.self), headers: HTTPHeaders(fields), minorVersion: minor)
        if minor == 1, head.headers.values(for: "Host").count != 1 { throw .bad }
        return (head, try body(of: head))
    }

    private static func field(_ line: ArraySlice<UInt8>) throws(Refusal) -> HTTPHeaders.Field {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), isToken(line[..<colon]) else { throw .bad }
        var value = line[(colon + 1)...]
        while let first = value.first, first == 0x20 || first == 0x09 { value.removeFirst() }
        while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
        guard value.allSatisfy({ $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }) else { throw .bad }
        return HTTPHeaders.Field(
            name: String(decoding: line[..<colon], as: UTF8.self), value: String(decoding: value, as: UTF8.self))
    }

    private func body(of head: RequestHead) throws(Refusal) -> State {
        let lengths = head.headers.values(for: "Content-Length")
        let codings = head.headers.values(for: "Transfer-Encoding")
        if !codings.isEmpty {
            guard lengths.isEmpty, head.minorVersion == 1 else { throw .bad }
            guard codings.count == 1, codings[0].lowercased() == "chunked" else { throw Refusal(status: 501) }
            return .chunkSize
        }
        guard let first = lengths.first else { return .head }
        guard lengths.allSatisfy({ $0 == first }), !first.isEmpty, first.utf8.count <= 18,
            first.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let length = Int(first)
        else { throw .bad }
        guard length <= limits.bodySize else { throw Refusal(status: 413) }
        return length == 0 ? .head : .length(remaining: length)
    }

    private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
                    UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
                    UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
                    true
                default: false
                }
            }
    }
}

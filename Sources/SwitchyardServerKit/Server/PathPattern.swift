import SwitchyardBytes

/// The parsed pattern of a route's path.
struct PathPattern: Sendable {
    private enum Segment: Sendable {
        case literal(String)
        case one(name: String, suffix: String)
        case rest(name: String, suffix: String)
    }

    private let segments: [Segment]

    init(_ text: String) {
        segments = text.split(separator: "/").map { Self.segment($0) }
    }

    private static func segment(_ text: Substring) -> Segment {
        guard text.first == "{", let end = text.firstIndex(of: "}") else { return .literal(String(text)) }
        let name = text[text.index(after: text.startIndex)..<end]
        let suffix = String(text[text.index(after: end)...])
        return name.hasSuffix("...")
            ? .rest(name: String(name.dropLast(3)), suffix: suffix) : .one(name: String(name), suffix: suffix)
    }

    /// The matches of the placeholders, or `nil`.
    func match(_ path: ServerPath) -> [String: String]? {
        var parameters: [String: String] = [:]
        var index = 0
        for segment in segments {
            guard index < path.segments.count else { return nil }
            switch segment {
            case .literal(let text):
                guard path.decoded[index] == text || path.segments[index] == text else { return nil }
                index += 1
            case .one(let name, let suffix):
                guard let value = Self.strip(suffix, from: path.segments[index]) else { return nil }
                parameters[name] = ServerPath.decode(value)
                index += 1
            case .rest(let name, let suffix):
                guard let last = path.segments.last, let end = Self.strip(suffix, from: last) else { return nil }
                let all = path.decoded[index...].dropLast() + [ServerPath.decode(end)]
                parameters[name] = all.joined(separator: "/")
                index = path.segments.count
            }
        }
        return index == path.segments.count ? parameters : nil
    }

    /// The part before the suffix, which must not be empty.
    private static func strip(_ suffix: String, from text: Substring) -> Substring? {
        guard text.hasSuffix(suffix), text.utf8.count > suffix.utf8.count else { return nil }
        return text.dropLast(suffix.count)
    }
}

/// The path of a request, taken apart once for all patterns.
struct ServerPath: Sendable {
    /// The segments as received.
    let segments: [Substring]
    /// A segment that cannot be decoded is kept as received.
    let decoded: [String]

    init(_ rawPath: Substring) {
        segments = rawPath.utf8.split(separator: UInt8(ascii: "/")).map { Substring($0) }
        decoded = segments.map { Self.decode($0) }
    }

    static func decode(_ text: Substring) -> String { PercentCoding.decode(text) ?? String(text) }
}

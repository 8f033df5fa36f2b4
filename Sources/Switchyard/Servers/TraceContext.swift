/// A place in a distributed trace, as the header fields `traceparent` and `tracestate` of W3C Trace Context name it.
///
/// ```swift
/// let trace = TraceContext(traceparent: headers["traceparent"], tracestate: headers["tracestate"])
/// try await withRequest(trace: trace) { try await backend.storage.documents(orders) }
/// ```
/// HTTP requests made for the calls within carry both fields, and so do the calls' events. A context is passed on as it came:
/// to have a backend's spans below one of your own, make the context from that span.
public struct TraceContext: Sendable, Hashable {
    /// 32 lower-case hexadecimal digits, not all of them zero.
    public let traceID: String
    /// 16 lower-case hexadecimal digits, not all of them zero: the span that calls are made for.
    public let parentID: String
    public let flags: UInt8
    /// What tracing systems add for themselves, in one field without spaces around its members; `nil` if there is nothing.
    public let tracestate: String?

    /// Whether the sender records this trace.
    public var isSampled: Bool { flags & 1 == 1 }

    /// The field `traceparent`, in version 00.
    public var traceparent: String {
        "00-\(traceID)-\(parentID)-\(flags < 16 ? "0" : "")\(String(flags, radix: 16))"
    }

    /// A context from the header fields of a request, or `nil` if `traceparent` is missing or invalid.
    ///
    /// A later version is read as version 00, without the flags that only it knows. An invalid `tracestate` is dropped.
    ///
    /// - Parameters:
    ///   - traceparent: The only field of that name.
    ///   - tracestate: All fields of that name, in order, joined by commas.
    public init?(traceparent: String?, tracestate: String? = nil) {
        let fields = (traceparent ?? "").utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard fields.count >= 4, let version = Self.byte(fields[0]), version != 0xFF, version != 0 || fields.count == 4,
            let traceID = Self.identifier(fields[1], 32), let parentID = Self.identifier(fields[2], 16),
            let flags = Self.byte(fields[3])
        else { return nil }
        self.traceID = traceID
        self.parentID = parentID
        self.flags = version == 0 ? flags : flags & 1
        self.tracestate = tracestate.flatMap(Self.members)
    }

    private static func byte(_ digits: Substring.UTF8View) -> UInt8? {
        digits.count == 2 && digits.allSatisfy(isDigit) ? UInt8(Substring(digits), radix: 16) : nil
    }

    private static func identifier(_ digits: Substring.UTF8View, _ count: Int) -> String? {
        guard digits.count == count, digits.allSatisfy(isDigit), digits.contains(where: { $0 != UInt8(ascii: "0") })
        else { return nil }
        return String(Substring(digits))
    }

    private static func isDigit(_ character: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(character)
    }

    // MARK: What tracing systems add

    /// The members of a `tracestate`; `nil` if there are none, more than 32, or any is invalid.
    private static func members(_ text: String) -> String? {
        let members = text.utf8.split(separator: UInt8(ascii: ",")).map(trimmed).filter { !$0.isEmpty }
        guard (1...32).contains(members.count), members.allSatisfy(isMember) else { return nil }
        return members.map { String(Substring($0)) }.joined(separator: ",")
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        func isSpace(_ character: UInt8) -> Bool { character == 0x20 || character == 0x09 }
        let start = text.drop(while: isSpace)
        let end = start.lastIndex { !isSpace($0) }.map(start.index(after:)) ?? start.startIndex
        return start[..<end]
    }

    private static func isMember(_ member: Substring.UTF8View) -> Bool {
        guard let equals = member.firstIndex(of: UInt8(ascii: "=")) else { return false }
        let (key, value) = (member[..<equals], member[member.index(after: equals)...])
        guard let first = key.first, key.count <= 256, isLowercaseOrNumber(first), key.allSatisfy(isOfKey) else {
            return false
        }
        return (1...256).contains(value.count)
            && value.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "=") }
    }

    private static func isLowercaseOrNumber(_ character: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character)
    }

    private static func isOfKey(_ character: UInt8) -> Bool {
        isLowercaseOrNumber(character) || "_-*/@".utf8.contains(character)
    }
}

extension TraceContext: CustomStringConvertible {
    public var description: String { traceparent }
}

import SwitchyardBytes

/// Where a collection is: `"users"`, `"users/alice/contacts"`. Always valid once it exists.
public struct CollectionPath: Sendable {
    /// The segments joined by slashes.
    public let rawValue: String

    /// - Throws: `.invalidArgument` unless `text` has an odd number of legal segments.
    public init(validating text: String) throws(StorageError) {
        let segments = try PathSegment.split(text, as: "collection path")
        guard !segments.count.isMultiple(of: 2) else {
            throw .invalid(
                "A collection path has an odd number of segments, collection and document in turn; this one has \(segments.count)."
            )
        }
        rawValue = text
    }

    init(validating text: String, appending id: String) throws(StorageError) {
        try PathSegment.check(id, in: "collection path")
        guard text.utf8.count(where: { $0 == UInt8(ascii: "/") }) < PathSegment.maximumDepth else {
            throw .invalid("A collection path has at most \(PathSegment.maximumDepth) segments.")
        }
        rawValue = text
    }

    /// For text that is known to be valid.
    package init(unchecked rawValue: String) { self.rawValue = rawValue }

    /// The last segment: the name that a collection group query looks for.
    public var id: String {
        rawValue.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(rawValue[rawValue.utf8.index(after: $0)...]) }
            ?? rawValue
    }

    /// The document that holds this collection; `nil` at the top.
    public var parent: StoragePath? {
        rawValue.utf8.lastIndex(of: UInt8(ascii: "/")).map { StoragePath(unchecked: String(rawValue[..<$0])) }
    }

    public var segments: [String] { PathSegment.parts(of: rawValue).map(String.init) }

    /// The document called `id` in this collection.
    ///
    /// - Throws: `.invalidArgument` if `id` is no legal segment.
    public func document(_ id: String) throws(StorageError) -> StoragePath {
        try PathSegment.check(id, in: "document path")
        guard rawValue.utf8.count(where: { $0 == UInt8(ascii: "/") }) + 2 <= PathSegment.maximumDepth else {
            throw .invalid("A document path has at most \(PathSegment.maximumDepth) segments.")
        }
        return StoragePath(unchecked: rawValue + "/" + id)
    }

    /// A document of this collection with a new random name of 20 letters and digits.
    public func newDocument() -> StoragePath {
        var generator = SystemRandomNumberGenerator()
        return newDocument(using: &generator)
    }

    public func newDocument(using generator: inout some RandomNumberGenerator) -> StoragePath {
        StoragePath(unchecked: rawValue + "/" + RandomID.make(using: &generator))
    }

    package func ordering(to other: CollectionPath) -> Ordering { PathSegment.ordering(rawValue, other.rawValue) }
}

extension CollectionPath: Hashable, Comparable {
    public static func == (left: CollectionPath, right: CollectionPath) -> Bool {
        left.rawValue.utf8Equals(right.rawValue)
    }
    public static func < (left: CollectionPath, right: CollectionPath) -> Bool { left.ordering(to: right) == .before }
    public func hash(into hasher: inout Hasher) { rawValue.hashUTF8(into: &hasher) }
}

extension CollectionPath: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Traps on an invalid literal. For text that is not a literal use ``init(validating:)``.
    public init(stringLiteral value: String) {
        do throws(StorageError) {
            try self.init(validating: value)
        } catch {
            preconditionFailure("“\(value)” is no collection path: \(error.message)")
        }
    }

    public var description: String { rawValue }
}

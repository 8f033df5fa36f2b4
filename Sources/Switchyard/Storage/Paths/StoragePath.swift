import Foundation

/// Where a document is: `"users/alice"`, `"users/alice/contacts/bob"`. Always valid once it exists.
///
/// Paths compare by their UTF-8 bytes, segment by segment, and so sort as a server sorts them.
public struct StoragePath: Sendable {
    /// The segments joined by slashes.
    public let rawValue: String

    /// - Throws: `.invalidArgument` unless `text` has an even number of legal segments.
    public init(validating text: String) throws(StorageError) {
        let segments = try PathSegment.split(text, as: "document path")
        guard segments.count.isMultiple(of: 2) else {
            throw .invalid(
                "A document path has an even number of segments, collection and document in turn; this one has \(segments.count)."
            )
        }
        rawValue = text
    }

    /// For text that is known to be valid.
    package init(unchecked rawValue: String) { self.rawValue = rawValue }

    /// The last segment.
    public var id: String {
        rawValue.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(rawValue[rawValue.utf8.index(after: $0)...]) }
            ?? rawValue
    }

    /// The collection that holds this document.
    public var collection: CollectionPath {
        let slash = rawValue.utf8.lastIndex(of: UInt8(ascii: "/"))!
        return CollectionPath(unchecked: String(rawValue[..<slash]))
    }

    /// The document that holds this one's collection; `nil` at the top.
    public var parent: StoragePath? { collection.parent }

    public var segments: [String] { PathSegment.parts(of: rawValue).map(String.init) }

    /// A collection below this document.
    ///
    /// - Throws: `.invalidArgument` if `id` is no legal segment.
    public func collection(_ id: String) throws(StorageError) -> CollectionPath {
        try CollectionPath(validating: rawValue + "/" + id, appending: id)
    }

    /// Whether this document lies below `ancestor`, at any depth.
    package func isBelow(_ ancestor: StoragePath) -> Bool {
        rawValue.withBytes { path in
            ancestor.rawValue.withBytes { ancestor in
                path.count > ancestor.count && path[ancestor.count] == UInt8(ascii: "/") && path.begins(with: ancestor)
            }
        }
    }

    /// Whether this document is one of `collection` itself.
    package func isDirectly(in collection: CollectionPath) -> Bool {
        rawValue.withBytes { path in
            collection.rawValue.withBytes { collection in
                path.count > collection.count && path[collection.count] == UInt8(ascii: "/")
                    && path.begins(with: collection)
                    && memchr(
                        path.baseAddress! + collection.count + 1, Int32(UInt8(ascii: "/")),
                        path.count - collection.count - 1) == nil
            }
        }
    }

    /// Whether the last segment but one is `id`.
    package func isInCollection(called id: String) -> Bool {
        rawValue.withBytes { path in
            id.withBytes { id in
                let slash = path.lastIndex(of: UInt8(ascii: "/"))!
                let start = slash - id.count
                guard start == 0 || (start > 0 && path[start - 1] == UInt8(ascii: "/")) else { return false }
                return path[start..<slash].elementsEqual(id)
            }
        }
    }

    package func ordering(to other: StoragePath) -> Ordering { PathSegment.ordering(rawValue, other.rawValue) }
}

extension StoragePath: Hashable, Comparable {
    public static func == (left: StoragePath, right: StoragePath) -> Bool { left.rawValue.utf8Equals(right.rawValue) }
    public static func < (left: StoragePath, right: StoragePath) -> Bool { left.ordering(to: right) == .before }
    public func hash(into hasher: inout Hasher) { rawValue.hashUTF8(into: &hasher) }
}

extension StoragePath: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Traps on an invalid literal. For text that is not a literal use ``init(validating:)``.
    public init(stringLiteral value: String) {
        do throws(StorageError) {
            try self.init(validating: value)
        } catch {
            preconditionFailure("“\(value)” is no document path: \(error.message)")
        }
    }

    public var description: String { rawValue }
}

extension StoragePath: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(validating: decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

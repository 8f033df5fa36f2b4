import Foundation

/// Where a document is: `"users/alice"`, `"users/\(id)/contacts/bob"`.
///
/// Each interpolated value is one segment; see ``PathInterpolation``. A value that is not a legal segment makes the path
/// invalid: the path keeps the original text, and every operation throws `.invalidArgument` with the reason. It never
/// addresses another document.
///
/// Paths compare by their UTF-8 bytes, segment by segment, and so sort as a server sorts them.
public struct StoragePath: Sendable {
    /// The segments joined by slashes. Only that of an invalid path begins with a slash.
    public let rawValue: String

    /// - Throws: `.invalidArgument` unless `text` has an even number of legal segments.
    public init(validating text: String) throws(StorageError) {
        if let problem = PathSegment.problem(in: text, isDocument: true) {
            throw .invalid(InvalidPath.message(text, isNo: StoragePath.kind, problem))
        }
        rawValue = text
    }

    /// A path of these segments, each as it is: `StoragePath("users", id)`. Invalid if one of them is not a legal segment.
    public init(_ collection: String, _ document: String, _ more: String...) {
        self.init(segments: [collection, document] + more)
    }

    /// A path of these segments, each as it is. Invalid if one of them is not a legal segment, or if their number is odd.
    public init(segments: [String]) {
        var problem: String?
        for segment in segments where problem == nil { problem = PathSegment.problem(with: segment) }
        self.init(segments.joined(separator: "/"), problem: problem)
    }

    /// For text known to be valid.
    package init(unchecked rawValue: String) { self.rawValue = rawValue }

    /// The path `text`, marked as invalid if there is a `problem` or it is not a path.
    private init(_ text: String, problem: String?) {
        let problem = problem ?? PathSegment.problem(in: text, isDocument: true)
        rawValue = problem.map { InvalidPath.marked(text, $0) } ?? text
    }

    private static let kind = "document path"

    /// Whether this path is valid. Only values that are not legal segments make invalid paths.
    public var isValid: Bool { !InvalidPath.isMarked(rawValue) }

    /// The error with which operations on this path fail; `nil` if it is valid.
    public var mistake: StorageError? {
        guard !isValid else { return nil }
        return .invalid(
            InvalidPath.message(
                InvalidPath.text(of: rawValue), isNo: StoragePath.kind, InvalidPath.problem(of: rawValue)))
    }

    /// Throws if the path is invalid. A provider calls this first in every operation.
    ///
    /// - Throws: `.invalidArgument`, with the path and what is wrong with it, unless it is valid.
    @discardableResult
    public func checked() throws(StorageError) -> Self {
        if let mistake { throw mistake }
        return self
    }

    /// The last segment.
    public var id: String {
        rawValue.utf8.lastIndex(of: PathSegment.slash).map { String(rawValue[rawValue.utf8.index(after: $0)...]) }
            ?? rawValue
    }

    /// The collection that holds this document.
    public var collection: CollectionPath {
        guard isValid, let slash = rawValue.utf8.lastIndex(of: PathSegment.slash) else {
            return CollectionPath(unchecked: InvalidPath.droppingLast(of: rawValue) ?? rawValue)
        }
        return CollectionPath(unchecked: String(rawValue[..<slash]))
    }

    /// The document that holds this one's collection; `nil` at the top.
    public var parent: StoragePath? { collection.parent }

    public var segments: [String] { PathSegment.parts(of: rawValue).map(String.init) }

    /// A collection below this document. Invalid if `id` is not a legal segment.
    public func collection(_ id: String) -> CollectionPath { CollectionPath(id, below: self) }

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

extension StoragePath: ExpressibleByStringInterpolation, CustomStringConvertible {
    /// Traps on an invalid literal. For text that is not a literal use ``init(validating:)``.
    public init(stringLiteral value: String) {
        do throws(StorageError) {
            try self.init(validating: value)
        } catch {
            preconditionFailure(error.message)
        }
    }

    /// Invalid if a value is not a legal segment, or if the result is not a path.
    public init(stringInterpolation: PathInterpolation) {
        self.init(stringInterpolation.text, problem: stringInterpolation.problem)
    }

    /// The original text, even if it is not a valid path.
    public var description: String { isValid ? rawValue : InvalidPath.text(of: rawValue) }
}

extension StoragePath: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(validating: decoder.singleValueContainer().decode(String.self))
    }

    /// - Throws: What is wrong with an invalid path.
    public func encode(to encoder: any Encoder) throws {
        try checked()
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

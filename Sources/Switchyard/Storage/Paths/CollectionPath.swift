import SwitchyardBytes

/// Where a collection is: `"users"`, `"users/\(id)/contacts"`.
///
/// Each interpolated value is one segment; see ``PathInterpolation``. A value that is not a legal segment makes the path
/// invalid: the path keeps the original text, and every operation throws `.invalidArgument` with the reason. It never
/// addresses another collection.
public struct CollectionPath: Sendable {
    /// The segments joined by slashes. Only that of an invalid path begins with a slash.
    public let rawValue: String

    /// - Throws: `.invalidArgument` unless `text` has an odd number of legal segments.
    public init(validating text: String) throws(StorageError) {
        if let problem = PathSegment.problem(in: text, isDocument: false) {
            throw .invalid(InvalidPath.message(text, isNo: CollectionPath.kind, problem))
        }
        rawValue = text
    }

    /// A path of these segments, each as it is: `CollectionPath("users", id, "todos")`. Invalid if one of them is not a legal segment.
    public init(_ collection: String, _ more: String...) {
        self.init(segments: [collection] + more)
    }

    /// A path of these segments, each as it is. Invalid if one of them is not a legal segment, or if their number is even.
    public init(segments: [String]) {
        var problem: String?
        for segment in segments where problem == nil { problem = PathSegment.problem(with: segment) }
        self.init(segments.joined(separator: "/"), problem: problem)
    }

    init(_ id: String, below document: StoragePath) {
        let text = document.rawValue + "/" + id
        let problem =
            document.isValid ? PathSegment.problem(with: id) ?? PathSegment.depthProblem(in: text) : nil
        rawValue = problem.map { InvalidPath.marked(text, $0) } ?? text
    }

    /// For text known to be valid.
    package init(unchecked rawValue: String) { self.rawValue = rawValue }

    /// The path `text`, marked as invalid if there is a `problem` or it is not a path.
    private init(_ text: String, problem: String?) {
        let problem = problem ?? PathSegment.problem(in: text, isDocument: false)
        rawValue = problem.map { InvalidPath.marked(text, $0) } ?? text
    }

    private static let kind = "collection path"

    /// Whether this path is valid. Only values that are not legal segments make invalid paths.
    public var isValid: Bool { !InvalidPath.isMarked(rawValue) }

    /// The error with which operations on this path fail; `nil` if it is valid.
    public var mistake: StorageError? {
        guard !isValid else { return nil }
        return .invalid(
            InvalidPath.message(
                InvalidPath.text(of: rawValue), isNo: CollectionPath.kind, InvalidPath.problem(of: rawValue)))
    }

    /// Throws if the path is invalid. A provider calls this first in every operation.
    ///
    /// - Throws: `.invalidArgument`, with the path and what is wrong with it, unless it is valid.
    @discardableResult
    public func checked() throws(StorageError) -> Self {
        if let mistake { throw mistake }
        return self
    }

    /// The last segment: the name that a collection group query looks for.
    public var id: String {
        rawValue.utf8.lastIndex(of: PathSegment.slash).map { String(rawValue[rawValue.utf8.index(after: $0)...]) }
            ?? rawValue
    }

    /// The document that holds this collection; `nil` at the top.
    public var parent: StoragePath? {
        guard isValid else { return InvalidPath.droppingLast(of: rawValue).map { StoragePath(unchecked: $0) } }
        return rawValue.utf8.lastIndex(of: PathSegment.slash).map {
            StoragePath(unchecked: String(rawValue[..<$0]))
        }
    }

    public var segments: [String] { PathSegment.parts(of: rawValue).map(String.init) }

    /// The document called `id` in this collection. Invalid if `id` is not a legal segment.
    public func document(_ id: String) -> StoragePath {
        let text = rawValue + "/" + id
        let problem = isValid ? PathSegment.problem(with: id) ?? PathSegment.depthProblem(in: text) : nil
        return StoragePath(unchecked: problem.map { InvalidPath.marked(text, $0) } ?? text)
    }

    /// A document of this collection with a new random name of 20 letters and digits. For a name as the backend accepts it,
    /// use ``StorageClient/newDocument(in:)``.
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

extension CollectionPath: ExpressibleByStringInterpolation, CustomStringConvertible {
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

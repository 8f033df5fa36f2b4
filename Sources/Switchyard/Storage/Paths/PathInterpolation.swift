public import Foundation

/// The text of a path with values in it, as Swift builds it from `"users/\(id)/todos"`.
///
/// Each value is one segment, or part of one: an empty value, or one that contains a slash, makes the path invalid, whatever
/// the rest looks like. So user input can never point to another document. A whole path is allowed at the beginning:
/// `"\(user)/todos"`.
public struct PathInterpolation: StringInterpolationProtocol, Sendable {
    private(set) var text = ""
    /// What is wrong with the first invalid value.
    private(set) var problem: String?

    public init(literalCapacity: Int, interpolationCount: Int) {
        text.reserveCapacity(literalCapacity + interpolationCount * 20)
    }

    public mutating func appendLiteral(_ literal: String) { text += literal }

    public mutating func appendInterpolation(_ value: some LosslessStringConvertible) { append(value.description) }
    public mutating func appendInterpolation(_ value: UUID) { append(value.uuidString) }
    @_disfavoredOverload
    public mutating func appendInterpolation<Value: RawRepresentable<String>>(_ value: Value) { append(value.rawValue) }

    /// A document's own path, as the beginning.
    public mutating func appendInterpolation(_ path: StoragePath) { begin(with: path.rawValue) }
    /// A collection's own path, as the beginning.
    public mutating func appendInterpolation(_ path: CollectionPath) { begin(with: path.rawValue) }
    /// A file's or folder's own path, as the beginning.
    public mutating func appendInterpolation(_ path: FilePath) { begin(with: path.rawValue) }

    private mutating func append(_ value: String) {
        if value.utf8.isEmpty { note("a value in it is empty") }
        if value.utf8.contains(PathSegment.slash) { note("the value “\(value.prefix(100))” in it contains a slash") }
        text += value
    }

    private mutating func begin(with path: String) {
        if !text.isEmpty { note("a whole path can only stand at its beginning") }
        if InvalidPath.isMarked(path) { note(InvalidPath.problem(of: path)) }
        text += InvalidPath.isMarked(path) ? InvalidPath.text(of: path) : path
    }

    private mutating func note(_ problem: String) {
        if self.problem == nil { self.problem = problem }
    }
}

/// Where a stored file is: `"avatars/alice.png"`, `"avatars/\(id).png"`.
///
/// Each interpolated value is a segment or part of one; see ``PathInterpolation``. A value that is not a legal segment makes
/// the path invalid: the path keeps the original text, and every operation throws `.invalidArgument` with the reason. It
/// never addresses another file.
public struct FilePath: Sendable {
    /// Only that of an invalid path begins with a slash.
    public let rawValue: String

    /// - Throws: `.invalidArgument` for empty text, empty or dotted segments, control characters, or above 1 024 bytes.
    public init(validating text: String) throws(FileStorageError) {
        if let problem = FilePath.problem(in: text) {
            throw FileStorageError(.invalidArgument, InvalidPath.message(text, isNo: FilePath.kind, problem))
        }
        rawValue = text
    }

    /// A path of these segments, each as it is: `FilePath("avatars", name)`. Invalid if one of them is not a legal segment.
    public init(_ first: String, _ more: String...) {
        let segments = [first] + more
        let isWrong = segments.contains { $0.utf8.contains(PathSegment.slash) }
        self.init(segments.joined(separator: "/"), problem: isWrong ? "a segment cannot contain a slash" : nil)
    }

    package init(unchecked rawValue: String) { self.rawValue = rawValue }

    /// The path `text`, marked as invalid if there is a `problem` or it is not a path.
    private init(_ text: String, problem: String?) {
        let problem = problem ?? FilePath.problem(in: text)
        rawValue = problem.map { InvalidPath.marked(text, $0) } ?? text
    }

    private static let kind = "file path"

    private static func problem(in text: String) -> String? {
        guard !text.isEmpty, text.utf8.count <= 1024 else { return "it needs 1 to 1024 bytes of UTF-8" }
        for segment in PathSegment.parts(of: text) {
            if segment.isEmpty { return "it has an empty segment" }
            if segment == "." || segment == ".." { return "a segment cannot be “.” or “..”" }
        }
        let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        return isPlain ? nil : "it cannot contain control characters"
    }

    /// Whether this path is valid. Only values that are not legal segments make invalid paths.
    public var isValid: Bool { !InvalidPath.isMarked(rawValue) }

    /// The error with which operations on this path fail; `nil` if it is valid.
    public var mistake: FileStorageError? {
        guard !isValid else { return nil }
        let text = InvalidPath.text(of: rawValue)
        return FileStorageError(
            .invalidArgument, InvalidPath.message(text, isNo: FilePath.kind, InvalidPath.problem(of: rawValue)))
    }

    /// Throws if the path is invalid. A provider calls this first in every operation.
    ///
    /// - Throws: `.invalidArgument`, with the path and what is wrong with it, unless it is valid.
    @discardableResult
    public func checked() throws(FileStorageError) -> FilePath {
        if let mistake { throw mistake }
        return self
    }

    /// The last segment.
    public var name: String {
        rawValue.utf8.lastIndex(of: PathSegment.slash).map { String(rawValue[rawValue.utf8.index(after: $0)...]) }
            ?? rawValue
    }

    /// The path up to the last slash; `nil` at the top.
    public var folder: FilePath? {
        guard isValid else { return InvalidPath.droppingLast(of: rawValue).map { FilePath(unchecked: $0) } }
        return rawValue.utf8.lastIndex(of: PathSegment.slash).map { FilePath(unchecked: String(rawValue[..<$0])) }
    }

    /// The text after the name's last dot, in lower case; `nil` without one.
    public var fileExtension: String? {
        let name = name
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return nil }
        let text = name[name.index(after: dot)...]
        return text.isEmpty ? nil : text.lowercased()
    }

    /// The file or folder at `path` in this folder: a segment, or several with slashes between them. Invalid if it is not a path.
    public func appending(_ path: String) -> FilePath {
        guard isValid else { return FilePath(unchecked: rawValue + "/" + path) }
        return FilePath(rawValue + "/" + path, problem: nil)
    }
}

extension FilePath: Hashable, Comparable {
    public static func == (left: FilePath, right: FilePath) -> Bool { left.rawValue.utf8Equals(right.rawValue) }
    public static func < (left: FilePath, right: FilePath) -> Bool {
        left.rawValue.utf8Ordering(to: right.rawValue) == .before
    }
    public func hash(into hasher: inout Hasher) { rawValue.hashUTF8(into: &hasher) }
}

extension FilePath: ExpressibleByStringInterpolation, CustomStringConvertible {
    /// Traps on an invalid literal. For text that is not a literal use ``init(validating:)``.
    public init(stringLiteral value: String) {
        do throws(FileStorageError) {
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

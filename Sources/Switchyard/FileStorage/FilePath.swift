/// Where a stored file is: `"avatars/alice.png"`. Always valid once it exists.
public struct FilePath: Sendable {
    public let rawValue: String

    /// - Throws: `.invalidArgument` for empty text, empty or dotted segments, control characters, or above 1 024 bytes.
    public init(validating text: String) throws(FileStorageError) {
        guard !text.isEmpty, text.utf8.count <= 1024 else {
            throw FileStorageError(.invalidArgument, "A file path has 1 to 1024 bytes of UTF-8.")
        }
        for segment in text.split(separator: "/", omittingEmptySubsequences: false) {
            guard !segment.isEmpty, segment != ".", segment != ".." else {
                throw FileStorageError(
                    .invalidArgument, "A file path has no empty segment, no “.” and no “..”; remove stray slashes.")
            }
        }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw FileStorageError(.invalidArgument, "A file path cannot contain control characters.")
        }
        rawValue = text
    }

    package init(unchecked rawValue: String) { self.rawValue = rawValue }

    /// The last segment.
    public var name: String {
        rawValue.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(rawValue[rawValue.index(after: $0)...]) }
            ?? rawValue
    }

    /// What stands before the last slash; `nil` at the top.
    public var folder: FilePath? {
        rawValue.utf8.lastIndex(of: UInt8(ascii: "/")).map { FilePath(unchecked: String(rawValue[..<$0])) }
    }

    /// The text behind the name's last dot, in lower case; `nil` without one.
    public var fileExtension: String? {
        let name = name
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return nil }
        let text = name[name.index(after: dot)...]
        return text.isEmpty ? nil : text.lowercased()
    }

    /// - Throws: `.invalidArgument` if the result is no legal path.
    public func appending(_ segment: String) throws(FileStorageError) -> FilePath {
        try FilePath(validating: rawValue + "/" + segment)
    }
}

extension FilePath: Hashable, Comparable {
    public static func == (left: FilePath, right: FilePath) -> Bool { left.rawValue.utf8Equals(right.rawValue) }
    public static func < (left: FilePath, right: FilePath) -> Bool {
        left.rawValue.utf8Ordering(to: right.rawValue) == .before
    }
    public func hash(into hasher: inout Hasher) { rawValue.hashUTF8(into: &hasher) }
}

extension FilePath: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Traps on an invalid literal. For text that is not a literal use ``init(validating:)``.
    public init(stringLiteral value: String) {
        do throws(FileStorageError) {
            try self.init(validating: value)
        } catch {
            preconditionFailure("“\(value)” is no file path: \(error.message)")
        }
    }

    public var description: String { rawValue }
}

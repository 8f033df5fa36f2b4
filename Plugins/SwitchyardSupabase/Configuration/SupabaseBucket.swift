import Switchyard

/// A bucket that is seen as a folder: `"avatars/alice.png"` is the object `alice.png` of the bucket behind `avatars`.
///
/// ```swift
/// configuration.bucket = "files"
/// configuration.buckets = [
///     SupabaseBucket("avatars", isPublic: true), SupabaseBucket("receipts-2026", folder: "users/receipts"),
/// ]
/// ```
///
/// Paths outside of all such folders are in ``SupabaseConfiguration/bucket``. What that one has below such a folder is not
/// seen.
public struct SupabaseBucket: Sendable, Hashable, Codable {
    public var name: String
    /// One segment or several; of folders inside each other the longer one counts.
    public var folder: String
    /// Whether anybody may read it: then its files have addresses without an end.
    public var isPublic: Bool

    /// - Parameters:
    ///   - name: The bucket's in the project.
    ///   - folder: As which it is seen; the bucket's name if `nil`.
    ///   - isPublic: Whether anybody may read it.
    public init(_ name: String, folder: String? = nil, isPublic: Bool = false) {
        self.name = name
        self.folder = folder ?? name
        self.isPublic = isPublic
    }

    private enum CodingKeys: CodingKey {
        case name, folder, isPublic
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try values.decode(String.self, forKey: .name),
            folder: try values.decodeIfPresent(String.self, forKey: .folder),
            isPublic: try values.decodeIfPresent(Bool.self, forKey: .isPublic) ?? false)
    }
}

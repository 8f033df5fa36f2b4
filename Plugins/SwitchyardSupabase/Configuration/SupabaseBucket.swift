import Switchyard

/// A bucket shown as a folder: `"avatars/alice.png"` is the object `alice.png` of the bucket for `avatars`.
///
/// ```swift
/// configuration.bucket = "files"
/// configuration.buckets = [
///     SupabaseBucket("avatars", isPublic: true), SupabaseBucket("receipts-2026", folder: "users/receipts"),
/// ]
/// ```
///
/// All paths outside these folders are in ``SupabaseConfiguration/bucket``. Objects that this bucket has below such a folder
/// are hidden.
public struct SupabaseBucket: Sendable, Hashable, Codable {
    public var name: String
    /// One or several segments; of nested folders, the longest match is used.
    public var folder: String
    /// Whether everyone may read it. Its files then have permanent addresses.
    public var isPublic: Bool

    /// - Parameters:
    ///   - name: The bucket's name in the project.
    ///   - folder: The folder that shows it; the bucket's name if `nil`.
    ///   - isPublic: Whether everyone may read it.
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

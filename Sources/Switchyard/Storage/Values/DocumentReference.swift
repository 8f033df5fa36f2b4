/// A value that points to a document.
public struct DocumentReference: Sendable, Hashable {
    private let storage: Storage

    private final class Storage: Sendable {
        let path: StoragePath
        let origin: String?
        init(path: StoragePath, origin: String?) {
            self.path = path
            self.origin = origin
        }
    }

    /// A reference to `path` in the storage that contains the reference, or, with `origin`, in another one.
    ///
    /// `origin` is the provider's own name for another database; it is kept and compared, never followed.
    public init(_ path: StoragePath, origin: String? = nil) {
        storage = Storage(path: path, origin: origin)
    }

    public var path: StoragePath { storage.path }
    public var origin: String? { storage.origin }

    public static func == (left: DocumentReference, right: DocumentReference) -> Bool {
        left.path == right.path && (left.origin ?? "").utf8Equals(right.origin ?? "")
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(path)
    }
}

extension DocumentReference: CustomStringConvertible {
    /// The path.
    public var description: String { path.description }
}

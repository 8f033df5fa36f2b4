import Switchyard
import SwitchyardBytes

/// Maps paths to buckets.
struct SupabaseBuckets: Sendable {
    /// The location of a file on the server.
    struct Place: Hashable, Sendable {
        let bucket: String
        /// The name in the bucket; a folder's has no trailing slash, and the bucket itself is empty.
        let name: String
        let isPublic: Bool

        /// The path after a route of the service, with each segment encoded and the slashes kept.
        var address: String {
            let segments = name.split(separator: "/").map { "/" + PercentCoding.encode($0) }
            return PercentCoding.encode(bucket) + segments.joined()
        }
    }

    /// The bucket for all paths outside the folders below.
    private let main: Place?
    /// Nested folders come before the folders that contain them.
    private let folders: [(folder: FilePath, bucket: SupabaseBucket)]

    init(main: String?, isPublic: Bool = false, _ folders: [(folder: FilePath, bucket: SupabaseBucket)] = []) {
        self.main = main.map { Place(bucket: $0, name: "", isPublic: isPublic) }
        self.folders = folders.sorted { $0.folder.rawValue.utf8.count > $1.folder.rawValue.utf8.count }
    }

    /// - Throws: `.invalidConfiguration` for invalid names of buckets or folders, and for duplicate folders.
    init(_ configuration: SupabaseConfiguration) throws(InfrastructureError) {
        if let name = configuration.bucket { try Self.check(name) }
        var folders: [(folder: FilePath, bucket: SupabaseBucket)] = []
        for bucket in configuration.buckets {
            try Self.check(bucket.name)
            let folder: FilePath
            do throws(FileStorageError) {
                folder = try FilePath(validating: bucket.folder)
                try folder.checkForSupabase()
            } catch {
                throw Self.problem(
                    "the bucket “\(bucket.name)” is mapped to “\(bucket.folder)”, which is not a valid folder")
            }
            guard !folders.contains(where: { $0.folder == folder }) else {
                throw Self.problem("two buckets are mapped to the folder “\(folder)”")
            }
            folders.append((folder, bucket))
        }
        self.init(main: configuration.bucket, isPublic: configuration.isBucketPublic, folders)
    }

    private static func check(_ name: String) throws(InfrastructureError) {
        guard (1...100).contains(name.utf8.count), !name.contains("/"),
            name.utf8.allSatisfy(FilePath.allowedBySupabase)
        else { throw problem("bucket must be the name of one, not \(Secret.shown(name))") }
    }

    private static func problem(_ what: String) -> InfrastructureError {
        InfrastructureError(.invalidConfiguration, "Supabase's configuration is invalid: \(what).")
    }

    /// The buckets as the subject of a sentence.
    var subject: String {
        let names = ([main?.bucket].compactMap { $0 } + folders.map(\.bucket.name)).map { "“\($0)”" }
        return names.count == 1 ? "The bucket \(names[0])" : "One of the buckets \(names.joined(separator: ", "))"
    }

    var isEmpty: Bool { main == nil && folders.isEmpty }
    var hasPublic: Bool { main?.isPublic == true || folders.contains { $0.bucket.isPublic } }

    /// - Throws: `.invalidArgument` for a path that leads to no bucket, or to a bucket but no file in it.
    func place(of path: FilePath) throws(FileStorageError) -> Place {
        guard let place = place(ofFolder: path) else {
            throw FileStorageError(
                .invalidArgument,
                "No bucket is configured for this path. Add one to buckets in Supabase's configuration.")
        }
        guard !place.name.isEmpty else {
            throw FileStorageError(.invalidArgument, "This path is a bucket's folder, not a file.")
        }
        return place
    }

    /// - Returns: `nil` if there is no bucket; there may still be folders of buckets.
    func place(ofFolder path: FilePath?) -> Place? {
        guard let path else { return main }
        for (folder, bucket) in folders {
            if path == folder { return Place(bucket: bucket.name, name: "", isPublic: bucket.isPublic) }
            guard let rest = path.rest(behind: folder) else { continue }
            return Place(bucket: bucket.name, name: rest, isPublic: bucket.isPublic)
        }
        return main.map { Place(bucket: $0.bucket, name: path.rawValue, isPublic: $0.isPublic) }
    }

    /// The folders directly in `path` that show a bucket.
    func folders(in path: FilePath?) -> Set<FilePath> {
        let prefix = path.map { $0.rawValue + "/" } ?? ""
        return Set(
            folders.compactMap { folder, _ in
                let rest = path.map { folder.rest(behind: $0) } ?? folder.rawValue
                return rest?.split(separator: "/").first.map { FilePath(unchecked: prefix + $0) }
            })
    }
}

extension FilePath {
    fileprivate func rest(behind folder: FilePath) -> String? {
        let (mine, theirs) = (rawValue.utf8, folder.rawValue.utf8)
        guard mine.count > theirs.count + 1, mine.starts(with: theirs) else { return nil }
        let slash = mine.index(mine.startIndex, offsetBy: theirs.count)
        guard mine[slash] == UInt8(ascii: "/") else { return nil }
        return String(rawValue[mine.index(after: slash)...])
    }
}

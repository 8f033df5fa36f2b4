import Foundation
import SwitchyardBytes
import SwitchyardServerKit

/// The folder with the contents of objects, each under a generated name.
struct SupabaseContents: Sendable {
    private let folder: URL

    init(_ folder: URL) { self.folder = folder }

    /// Without the folder every upload fails and says so.
    func prepare() {
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    func path(of version: String) -> String { folder.appendingPathComponent(version).path }

    /// A file for contents that arrive.
    func receive() throws(SupabaseStorageFailure) -> (contents: ServerContents, version: String) {
        let version = RandomID.uuid()
        do throws(ServerContents.Failure) {
            return (try ServerContents(path(of: version)), version)
        } catch {
            throw .cannotKeep
        }
    }

    /// The same contents once more; what is there is never changed, so that both can share it.
    func share(_ version: String) throws(SupabaseStorageFailure) -> String {
        let copy = RandomID.uuid()
        do {
            try FileManager.default.linkItem(atPath: path(of: version), toPath: path(of: copy))
        } catch {
            throw .noSuchKey
        }
        return copy
    }

    func discard(_ version: String) {
        // Versions are written by users' statements too: nothing but one of ours names a file.
        guard UUID(uuidString: version) != nil else { return }
        try? FileManager.default.removeItem(atPath: path(of: version))
    }
}

extension SupabaseStorageFailure {
    static let cannotKeep = Self(500, "InternalError", "The contents cannot be written")
}

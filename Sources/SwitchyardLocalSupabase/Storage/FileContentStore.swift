import Foundation
import SwitchyardBytes
import SwitchyardServerKit

/// The folder with the contents of objects, each under a generated name.
struct FileContentStore: Sendable {
    private let folder: URL

    init(_ folder: URL) { self.folder = folder }

    /// Creates the folder. Without it, every upload fails with an error.
    func prepare() {
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    func path(of version: String) -> String { folder.appendingPathComponent(version).path }

    /// Creates a file for uploaded contents.
    func receive() throws(LocalSupabaseFileError) -> (contents: ServerContents, version: String) {
        let version = RandomID.uuid()
        do throws(ServerContents.Failure) {
            return (try ServerContents(path(of: version)), version)
        } catch {
            throw .cannotKeep
        }
    }

    /// Another reference to the same contents, which never change, so that both can share them.
    func share(_ version: String) throws(LocalSupabaseFileError) -> String {
        let copy = RandomID.uuid()
        do {
            try FileManager.default.linkItem(atPath: path(of: version), toPath: path(of: copy))
        } catch {
            throw .noSuchKey
        }
        return copy
    }

    func discard(_ version: String) {
        // Users' statements can write versions, too; only UUIDs are file names of this service.
        guard UUID(uuidString: version) != nil else { return }
        try? FileManager.default.removeItem(atPath: path(of: version))
    }
}

extension LocalSupabaseFileError {
    static let cannotKeep = Self(500, "InternalError", "The contents cannot be written")
}

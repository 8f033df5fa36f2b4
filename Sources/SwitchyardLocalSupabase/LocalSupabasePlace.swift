import Foundation
import SwitchyardBytes
import SwitchyardServerKit

/// Where a local Supabase keeps what it keeps: in a folder that it was given, or in one that goes with it.
struct LocalSupabasePlace: Sendable {
    /// For the PostgreSQL; `nil` where nothing is kept.
    let database: URL?
    let files: URL
    private let folder: ServerFolder<LocalSupabaseError>?

    init(_ folder: URL?) throws(LocalSupabaseError) {
        self.folder = try folder.map { url throws(LocalSupabaseError) in try ServerFolder(url) }
        database = folder?.appendingPathComponent("database", isDirectory: true)
        files =
            folder?.appendingPathComponent("files", isDirectory: true)
            ?? ProcessFolder.place("switchyard-supabase")
        do {
            try FileManager.default.createDirectory(
                at: files, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            // The database's user has to pass through, where it is not the one whom the folder belongs to.
            if let folder, getuid() == 0 {
                try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: folder.path)
            }
        } catch {
            throw LocalSupabaseError("The folder “\(files.path)” cannot be made; check its permissions.")
        }
    }

    /// What tokens are signed with, a text: the same as long as the folder stays.
    func secret() throws(LocalSupabaseError) -> [UInt8] {
        // Bytes that are no text are of an earlier version; nobody could be told them.
        if let kept = try folder?.read("secret"), kept.allSatisfy({ (33...126).contains($0) }) { return [UInt8](kept) }
        let new = Array(Hex.encode(ServerSeal.makeKey()).utf8)
        try folder?.write(Data(new), as: "secret")
        return new
    }

    /// Lets another server have the folder; removes what nobody keeps.
    func release() {
        folder?.release()
        if folder == nil { try? FileManager.default.removeItem(at: files) }
    }
}

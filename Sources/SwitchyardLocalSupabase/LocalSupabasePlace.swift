import Foundation
import SwitchyardBytes
import SwitchyardServerKit

/// The storage of a local Supabase: a given folder, or a temporary one.
struct LocalSupabasePlace: Sendable {
    /// For the PostgreSQL; `nil` if nothing is kept.
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
            // The database's user needs access if it does not own the folder.
            if let folder, getuid() == 0 {
                try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: folder.path)
            }
        } catch {
            throw LocalSupabaseError("The folder “\(files.path)” cannot be made; check its permissions.")
        }
    }

    /// The secret that signs tokens, as text; the same as long as the folder stays.
    func secret() throws(LocalSupabaseError) -> [UInt8] {
        // Bytes that are not text are from an earlier version and could not be displayed.
        if let kept = try folder?.read("secret"), kept.allSatisfy({ (33...126).contains($0) }) { return [UInt8](kept) }
        let new = Array(Hex.encode(ServerSeal.makeKey()).utf8)
        try folder?.write(Data(new), as: "secret")
        return new
    }

    /// Releases the folder; removes a temporary one.
    func release() {
        folder?.release()
        if folder == nil { try? FileManager.default.removeItem(at: files) }
    }
}

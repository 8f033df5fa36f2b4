import Foundation

/// Where a local Supabase keeps what it keeps: in a folder that it was given, or in one that goes with it.
struct LocalSupabasePlace: Sendable {
    /// For the PostgreSQL; `nil` where nothing is kept.
    let database: URL?
    let files: URL
    private let folder: LocalFolder?

    init(_ folder: URL?) throws(LocalSupabaseError) {
        do throws(LocalFirebaseError) {
            self.folder = try folder.map { url throws(LocalFirebaseError) in try LocalFolder(url) }
        } catch {
            throw LocalSupabaseError(error.message)
        }
        database = folder?.appendingPathComponent("database", isDirectory: true)
        files =
            folder?.appendingPathComponent("files", isDirectory: true)
            ?? FileManager.default.temporaryDirectory
            .appendingPathComponent("switchyard-supabase-\(UUID().uuidString)", isDirectory: true)
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

    /// What tokens are signed with: the same as long as the folder stays.
    func secret() throws(LocalSupabaseError) -> [UInt8] {
        do throws(LocalFirebaseError) {
            if let kept = try folder?.read("secret") { return [UInt8](kept) }
            let new = LocalSeal.makeKey()
            try folder?.write(Data(new), as: "secret")
            return new
        } catch {
            throw LocalSupabaseError(error.message)
        }
    }

    /// Lets another server have the folder; removes what nobody keeps.
    func release() {
        folder?.release()
        if folder == nil { try? FileManager.default.removeItem(at: files) }
    }
}

package import Foundation
package import Switchyard
import SwitchyardBytes
package import SwitchyardServerKit
import Synchronization

/// The storage of a local Supabase: a given folder, or a temporary one.
struct LocalSupabaseFolder: Sendable {
    /// For the PostgreSQL; `nil` if nothing is stored.
    let database: URL?
    let files: URL
    private let folder: ServerFolder<LocalSupabaseError>?

    init(_ folder: URL?) throws(LocalSupabaseError) {
        self.folder = try folder.map { url throws(LocalSupabaseError) in try ServerFolder(url) }
        database = folder?.appendingPathComponent("database", isDirectory: true)
        files =
            folder?.appendingPathComponent("files", isDirectory: true)
            ?? ProcessFolder.unique("switchyard-supabase")
        do {
            try FileManager.default.createDirectory(
                at: files, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            // The database's user needs access if it does not own the folder.
            if let folder, getuid() == 0 {
                try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: folder.path)
            }
        } catch {
            throw LocalSupabaseError("The folder “\(files.path)” cannot be created; check its permissions.")
        }
    }

    /// The secret that signs tokens, as text. It stays the same as long as the folder exists.
    func secret() throws(LocalSupabaseError) -> [UInt8] {
        // Bytes that are not text are from an earlier version and could not be displayed. With less, or nothing at all, anyone
        // could sign.
        if let kept = try folder?.read("secret"), kept.count >= 32, kept.allSatisfy({ (33...126).contains($0) }) {
            return [UInt8](kept)
        }
        let new = Array(Hex.encode(ServerSigningKey.makeKey()).utf8)
        try folder?.write(Data(new), as: "secret")
        return new
    }

    /// The key that signs users' tokens. It stays the same as long as the folder exists.
    func signingKey() throws(LocalSupabaseError) -> RSAPrivateKey {
        if let kept = try folder?.read("signing-key"),
            let key = RSAPrivateKey(pem: Secret(String(decoding: kept, as: UTF8.self)))
        {
            return key
        }
        guard let new = RSAPrivateKey() else {
            throw LocalSupabaseError(
                "Signing tokens with a key requires OpenSSL's libcrypto. Install the package libssl3 or libssl1.1, or leave "
                    + "out --signing-keys.")
        }
        try folder?.write(Data(new.text.utf8), as: "signing-key")
        return new
    }

    /// From when on the project's keys are valid. It stays the same as long as the folder exists, and so do the keys.
    ///
    /// - Parameter now: In seconds since 1970.
    func keysSince(_ now: Int64) throws(LocalSupabaseError) -> Int64 {
        if let kept = try folder?.read("keys-since"), let since = Int64(String(decoding: kept, as: UTF8.self)),
            since <= now, since > now - Self.renewal
        {
            return since
        }
        try folder?.write(Data("\(now)".utf8), as: "keys-since")
        return now
    }

    /// Nine years: keys are valid for ten.
    private static let renewal: Int64 = 9 * 365 * 86_400

    /// The port on which the folder's last server listened; 0 if there is none.
    var port: UInt16 { folder?.port ?? 0 }

    /// Saves the port for the next server, so that clients find it at the same address.
    func save(port: UInt16) throws(LocalSupabaseError) { try folder?.save(port: port) }

    /// Releases the folder; removes a temporary one.
    func release() {
        folder?.release()
        if folder == nil { try? FileManager.default.removeItem(at: files) }
    }
}

/// The shared context of a ``LocalSupabase``'s services.
package struct LocalSupabaseContext: Sendable {
    package let options: LocalSupabaseOptions
    package let database: SupabaseDatabase
    let access: SupabaseAccess
    /// The folder for the services' files. It exists.
    package let files: URL
    /// What would have been sent to people.
    package let sent = SentMessages()
    private let origin: Origin

    private final class Origin: Sendable {
        let text = Mutex("")
    }

    init(_ options: LocalSupabaseOptions, _ database: SupabaseDatabase, _ access: SupabaseAccess, files: URL) {
        self.options = options
        self.database = database
        self.access = access
        self.files = files
        origin = Origin()
    }

    package var now: Timestamp { options.now() }

    /// Such as "http://127.0.0.1:8080"; known once the server listens.
    package internal(set) var url: String {
        get { origin.text.withLock { $0 } }
        nonmutating set { origin.text.withLock { $0 = newValue } }
    }
}

package import Foundation
import SwitchyardBytes

/// What a local server throws when it cannot start.
package protocol ServerStartError: Error {
    init(_ message: String)
}

/// The folder of a local server: for its user's eyes only, and one server's at a time.
package final class ServerFolder<Failure: ServerStartError>: Sendable {
    package let url: URL
    private let lock: FileLock

    /// - Throws: When it cannot be made, or another server uses it.
    package init(_ url: URL) throws(Failure) {
        self.url = url
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Failure("The folder “\(url.path)” cannot be made; check its permissions.")
        }
        do throws(FileLock.Refusal) {
            lock = try FileLock(url.appendingPathComponent("lock").path)
        } catch .held {
            throw Failure("Another server uses the folder “\(url.path)”; choose another one.")
        } catch {
            throw Failure("The folder “\(url.path)” cannot be written to; check its permissions.")
        }
    }

    /// Lets another server have it. Nothing is written to it any more.
    package func release() { lock.release() }

    /// The contents; `nil` if there is no such file yet.
    package func read(_ name: String) throws(Failure) -> Data? {
        let file = url.appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        do { return try Data(contentsOf: file) } catch { throw ServerFolder.unreadable(name) }
    }

    /// Written whole or not at all: a process that is killed leaves the old file or the new one.
    package func write(_ data: Data, as name: String) throws(Failure) {
        let file = url.appendingPathComponent(name)
        do {
            try data.write(to: file, options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        } catch {
            throw Failure("The file “\(name)” cannot be written; check the folder's permissions and space.")
        }
    }

    package static func unreadable(_ name: String) -> Failure {
        Failure("The file “\(name)” cannot be read; remove it to start afresh.")
    }
}

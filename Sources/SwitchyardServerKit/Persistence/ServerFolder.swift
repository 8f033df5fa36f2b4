package import Foundation
import SwitchyardBytes

/// The error if a local server cannot start.
package protocol ServerStartError: Error {
    init(_ message: String)
}

/// The folder of a local server: readable by its user only, and used by one server at a time.
package final class ServerFolder<Failure: ServerStartError>: Sendable {
    package let url: URL
    private let lock: FileLock

    /// - Throws: If it cannot be created, or another server uses it.
    package init(_ url: URL) throws(Failure) {
        self.url = url
        do throws(SystemFailure) {
            // Only the folder itself is closed to others: a database's own user has to get through those above it.
            try POSIXFile.makeFolder(url.deletingLastPathComponent().path, mode: 0o777)
            try POSIXFile.makeFolder(url.path)
        } catch {
            throw Failure(
                "The folder “\(url.path)” cannot be created: \(error). Check the permissions above it, or choose another with "
                    + "--folder.")
        }
        do throws(FileLock.Refusal) {
            lock = try FileLock(url.appendingPathComponent("lock").path)
        } catch .held {
            throw Failure("Another server uses the folder “\(url.path)”; choose another one.")
        } catch {
            throw Failure(
                "The folder “\(url.path)” cannot be written to: \(error.reason). Check its owner and permissions, or choose "
                    + "another with --folder.")
        }
    }

    /// Releases it for another server. Nothing more is written to it.
    package func release() { lock.release() }

    /// The contents; `nil` if there is no such file yet.
    package func read(_ name: String) throws(Failure) -> Data? {
        let file = url.appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        do { return try Data(contentsOf: file) } catch { throw ServerFolder.unreadable(name) }
    }

    /// Writes atomically: a killed process leaves the old file or the new one.
    package func write(_ data: Data, as name: String) throws(Failure) {
        let file = url.appendingPathComponent(name)
        do {
            try data.write(to: file, options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        } catch {
            throw Failure("The file “\(name)” cannot be written; check the folder's permissions and space.")
        }
    }

    // MARK: The port

    private static var portFile: String { "port" }

    /// The port on which the folder's last server listened; 0 if it is not known.
    package var port: UInt16 {
        guard let data = try? read(Self.portFile) else { return 0 }
        return UInt16(String(decoding: data, as: UTF8.self)) ?? 0
    }

    package func keep(port: UInt16) throws(Failure) {
        if self.port != port { try write(Data("\(port)".utf8), as: Self.portFile) }
    }

    package static func unreadable(_ name: String) -> Failure {
        Failure("The file “\(name)” cannot be read; remove it to start afresh.")
    }
}

/// Temporary folders of a process, which are removed even if the process could not do so itself.
package enum ProcessFolder {
    /// A unique folder path. Also starts to remove the folders of processes that ended without removing theirs: they may hold
    /// thousands of files.
    ///
    /// - Parameter name: What the folder is for; the same for all processes.
    package static func place(_ name: String) -> URL {
        let root = FileManager.default.temporaryDirectory
        let prefix = "\(name)-"
        func unique() -> URL {
            root.appendingPathComponent(
                "\(prefix)\(getpid())-\(UInt32.random(in: .min ... .max))", isDirectory: true)
        }
        var left: [URL] = []
        for other in (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        where other.hasPrefix(prefix) {
            // `prefix`, the process, and a number.
            let parts = other.dropFirst(prefix.count).split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, UInt32(parts[1]) != nil, let owner = Int32(parts[0]), owner > 0,
                Foundation.kill(owner, 0) != 0, errno == ESRCH
            else { continue }
            // One process takes it over; if that ends before it is removed, another does.
            let ours = unique()
            if rename(root.appendingPathComponent(other).path, ours.path) == 0 { left.append(ours) }
        }
        if !left.isEmpty {
            try? LoopThread.start { [left] in
                for folder in left { remove(folder) }
            }
        }
        return unique()
    }

    /// A server that such a process started may still be ending, and writing meanwhile: then a folder is not empty when it should
    /// go.
    private static func remove(_ folder: URL) {
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            try? FileManager.default.removeItem(at: folder)
            guard FileManager.default.fileExists(atPath: folder.path), ContinuousClock.now < deadline else { return }
            usleep(50_000)
        }
    }
}

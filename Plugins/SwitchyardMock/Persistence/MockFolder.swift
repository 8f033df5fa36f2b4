import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

/// The folder of a backend: one verified file for each service, and one for each stored file.
struct MockFolder: Sendable {
    let url: URL
    /// The backend's lock on its folder.
    let lock: FileLock

    /// - Throws: `.localStore` if the folder cannot be created or written; `.locked` while another backend uses it.
    init(_ url: URL) throws(InfrastructureError) {
        self.url = url
        do throws(SystemFailure) { try POSIXFile.makeFolder(url.path, mode: 0o777) } catch {
            throw .unwritableFolder(url, "\(error)", error)
        }
        do throws(FileLock.Refusal) {
            lock = try FileLock(url.appendingPathComponent("lock", isDirectory: false).path)
        } catch .held {
            throw InfrastructureError(
                .locked,
                "The mock's folder “\(url.path)” is in use by another process, or by another mock in this one; end that first or choose another folder."
            )
        } catch {
            throw .unwritableFolder(url, error.reason, error)
        }
        do throws(SystemFailure) {
            try POSIXFile.makeFolder(url.appendingPathComponent("contents", isDirectory: true).path, mode: 0o777)
        } catch {
            throw .unwritableFolder(url, "\(error)", error)
        }
        do {
            // Check now, before anything depends on it.
            let probe = url.appendingPathComponent("probe", isDirectory: false)
            try Data().write(to: probe)
            try FileManager.default.removeItem(at: probe)
        } catch {
            throw .unwritableFolder(url, "no file can be written there", error)
        }
    }

    var sessions: MockSessionStore { MockSessionStore(FileSessionStore(folder: url)) }
    var uploads: MockUploadStore {
        MockUploadStore(UploadRecords(folder: url.appendingPathComponent("uploads", isDirectory: true)))
    }

    func file(_ name: String) -> MockFile { MockFile(name + ".json", in: url) }

    // MARK: Contents of stored files

    private func contents(_ name: String) -> URL {
        url.appendingPathComponent("contents", isDirectory: true).appendingPathComponent(name, isDirectory: false)
    }

    func readContents(_ name: String) -> Data? { try? Data(contentsOf: contents(name)) }

    func writeContents(_ data: Data, _ name: String) throws(MockFile.Failure) {
        guard !FileManager.default.fileExists(atPath: contents(name).path) else { return }
        do {
            try data.write(to: contents(name), options: .atomic)
        } catch {
            throw .unwritable(name)
        }
    }

    /// Removes the contents that no file uses anymore.
    func keepContents(_ names: Set<String>) {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: contents("").path)) ?? []
        for name in all where !names.contains(name) { try? FileManager.default.removeItem(at: contents(name)) }
    }
}

extension InfrastructureError {
    static func unwritableFolder(_ folder: URL, _ reason: String, _ cause: any Error) -> InfrastructureError {
        InfrastructureError(
            .localStore,
            "The mock's folder “\(folder.path)” cannot be written: \(reason). Check its owner and permissions, or choose another.",
            underlying: cause)
    }
}

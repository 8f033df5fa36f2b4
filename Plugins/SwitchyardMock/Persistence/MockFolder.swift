import Foundation
import Switchyard

/// Where a backend keeps its contents: one checked file for each service, and one for each stored file.
struct MockFolder: Sendable {
    let url: URL
    let lock: MockFolderLock

    /// - Throws: `.localStore` if the folder cannot be made or written; `.locked` while it is somebody else's.
    init(_ url: URL) throws(InfrastructureError) {
        self.url = url
        do { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) } catch {
            throw .unwritableFolder(error)
        }
        lock = try MockFolderLock(url)
        do {
            try FileManager.default.createDirectory(
                at: url.appendingPathComponent("contents", isDirectory: true), withIntermediateDirectories: true)
            // Found out now, before anything depends on it.
            let probe = url.appendingPathComponent("probe", isDirectory: false)
            try Data().write(to: probe)
            try FileManager.default.removeItem(at: probe)
        } catch {
            throw .unwritableFolder(error)
        }
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

    /// Removes what no file needs any more.
    func keepContents(_ names: Set<String>) {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: contents("").path)) ?? []
        for name in all where !names.contains(name) { try? FileManager.default.removeItem(at: contents(name)) }
    }
}

package import Foundation
import SwitchyardBytes

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

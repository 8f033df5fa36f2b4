package import Foundation

/// Temporary folders of a process, which are removed even if the process could not do so itself.
package enum ProcessFolder {
    /// A unique folder path. Also removes the folders of processes that ended without removing theirs.
    ///
    /// - Parameter name: What the folder is for; the same for all processes.
    package static func place(_ name: String) -> URL {
        let root = FileManager.default.temporaryDirectory
        let prefix = "\(name)-"
        for other in (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        where other.hasPrefix(prefix) {
            // `prefix`, the process, and a number.
            let parts = other.dropFirst(prefix.count).split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 2, UInt32(parts[1]) != nil, let owner = Int32(parts[0]), owner > 0,
                Foundation.kill(owner, 0) != 0, errno == ESRCH
            else { continue }
            try? FileManager.default.removeItem(at: root.appendingPathComponent(other))
        }
        return root.appendingPathComponent(
            "\(prefix)\(getpid())-\(UInt32.random(in: .min ... .max))", isDirectory: true)
    }
}

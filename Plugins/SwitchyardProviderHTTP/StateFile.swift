package import Foundation
package import SwitchyardBytes

/// What a client remembers from one process to the next in a small file of its own, which nobody else may read. What cannot be
/// kept is found out anew after a restart.
package struct StateFile: Sendable {
    private let file: URL?

    /// - Parameter file: `nil` to have everything gone with the process.
    package init(_ file: URL?) { self.file = file }

    package func read() -> JSON? {
        guard let file, let data = try? Data(contentsOf: file) else { return nil }
        return try? JSON(parsing: Array(data))
    }

    package func write(_ json: JSON) {
        guard let file else { return }
        _ = try? POSIXFile.replace(file.path, with: json.bytes())
    }
}

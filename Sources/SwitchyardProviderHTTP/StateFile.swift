package import Foundation
package import SwitchyardBytes

/// A small private file with a client's state across launches. State that cannot be saved is determined again after a restart.
package struct StateFile: Sendable {
    private let file: URL?

    /// - Parameter file: `nil` to save nothing.
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

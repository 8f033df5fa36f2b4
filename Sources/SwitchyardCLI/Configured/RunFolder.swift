import Foundation
import Switchyard
import Synchronization

/// The state folder for the devices of one run: a separate folder below the configured one, removed after the run.
final class RunFolder: Sendable {
    private let url: URL
    private let count = Atomic(0)

    init(in folder: URL) {
        url = folder.appendingPathComponent("conformance-\(UInt64.random(in: 0 ... .max))", isDirectory: true)
    }

    /// The surroundings of a new device.
    func newDevice() -> InfrastructureOptions {
        let number = count.add(1, ordering: .relaxed).newValue
        return InfrastructureOptions(
            stateFolder: url.appendingPathComponent("device-\(number)", isDirectory: true))
    }

    func remove() { try? FileManager.default.removeItem(at: url) }
}

import Foundation
import Switchyard
import Synchronization

/// The hold of one backend on its folder. The system lets go of it with the process, however that ends.
final class MockFolderLock: Sendable {
    private let descriptor: Mutex<Int32?>

    /// - Throws: `.locked` while somebody else has it; `.localStore` if the folder cannot be written.
    init(_ folder: URL) throws(InfrastructureError) {
        let file = folder.appendingPathComponent("lock", isDirectory: false)
        let descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unwritableFolder() }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let isHeld = errno == EWOULDBLOCK
            close(descriptor)
            guard isHeld else { throw .unwritableFolder() }
            throw InfrastructureError(
                .locked,
                "The mock's folder “\(folder.path)” is in use by another process, or by another mock in this one; end that first or choose another folder."
            )
        }
        self.descriptor = Mutex(descriptor)
    }

    var isHeld: Bool { descriptor.withLock { $0 != nil } }

    /// Doing it twice is fine.
    func release() {
        descriptor.withLock { descriptor in
            if let descriptor { close(descriptor) }
            descriptor = nil
        }
    }

    deinit { release() }
}

extension InfrastructureError {
    static func unwritableFolder(_ cause: (any Error)? = nil) -> InfrastructureError {
        InfrastructureError(
            .localStore, "The mock's folder cannot be written; check its permissions or choose another.",
            underlying: cause)
    }
}

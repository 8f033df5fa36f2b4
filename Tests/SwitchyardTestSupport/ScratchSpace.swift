package import Foundation

/// Where tests put files that need not outlive a power failure: thousands of synchronous writes take as long as they
/// compute, and do not wait for a disk that others use too.
package enum ScratchSpace {
    package static let url: URL = {
        let memory = "/dev/shm"
        return FileManager.default.isWritableFile(atPath: memory)
            ? URL(fileURLWithPath: memory, isDirectory: true) : FileManager.default.temporaryDirectory
    }()
}

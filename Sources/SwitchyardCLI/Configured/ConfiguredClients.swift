import Switchyard
import Synchronization

/// An auth client that knows its device.
struct DeviceAuthClient: RoutedAuthClient {
    let route: Route<any AuthClient>
    let place: InfrastructureOptions

    init(_ client: any AuthClient, at place: InfrastructureOptions) {
        route = Route(to: client)
        self.place = place
    }
}

/// A file client that knows its device, and can be made to lose its connection during an upload: it stops as if the process
/// had ended, and sends nothing more.
final class DeviceFileClient: RoutedFileStorageClient {
    let route: Route<any FileStorageClient>
    let place: InfrastructureOptions
    private let isCut = Mutex(false)

    init(_ client: any FileStorageClient, at place: InfrastructureOptions) {
        route = Route(to: client)
        self.place = place
    }

    func cutOff() { isCut.withLock { $0 = true } }

    func upload(
        _ source: UploadSource, to path: FilePath, options: UploadOptions
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        guard let client = route.client else { throw FileStorageError(.shutDown, "The client was shut down.") }
        let transfer = try await client.upload(source, to: path, options: options)
        guard isCut.withLock({ $0 }) else { return transfer }
        Task {
            for await progress in transfer.progress where progress.completedBytes > 0 {
                await transfer.pause()
                return
            }
        }
        return transfer
    }
}

import Foundation
import Switchyard
import SwitchyardBytes

/// The files of a backend.
struct BackendFiles: MoveFiles {
    let client: any FileStorageClient
    private static let pageSize = 200

    /// The files, if the backend has any storage for them.
    static func service(of client: any FileStorageClient) async throws(FileStorageError) -> MoveService<any MoveFiles> {
        do throws(FileStorageError) {
            _ = try await client.list(nil, pageSize: 1, page: nil)
        } catch {
            let absences: Set<ErrorCode> = [.unsupported, .invalidConfiguration, .notFound, .shutDown, .clientNotSet]
            guard absences.contains(error.code) else { throw error }
            return .absent(error.message)
        }
        return .present(BackendFiles(client: client))
    }

    func forEachPage(_ body: ([FileMetadata]) async throws -> Void) async throws {
        var folders: [FilePath?] = [nil]
        while let folder = folders.popLast() {
            var page: String?
            repeat {
                let list = try await client.list(folder, pageSize: Self.pageSize, page: page)
                folders += list.folders.reversed().map(Optional.some)
                if !list.files.isEmpty { try await body(list.files) }
                page = list.nextPage
            } while page != nil
        }
    }

    func contents(of path: FilePath) -> FileContents { client.bytes(of: path).erased }

    func write(
        _ file: FileMetadata, _ contents: @escaping @Sendable () -> FileContents
    ) async throws -> FileMetadata {
        let options = UploadOptions(
            contentType: file.contentType, cacheControl: file.cacheControl,
            custom: client.capabilities.customMetadata ? file.custom : [:])
        let transfer = try await client.upload(.stream(length: file.size, contents), to: file.path, options: options)
        return try await transfer.result()
    }

    /// No error if there is no such file.
    func delete(_ path: FilePath) async throws {
        do throws(FileStorageError) {
            try await client.delete(path)
        } catch {
            guard error.code == .notFound else { throw error }
        }
    }

    func metadata(of path: FilePath) async throws -> FileMetadata? {
        do throws(FileStorageError) {
            return try await client.metadata(of: path)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }
}

extension AsyncSequence where Element == Data, Self: Sendable {
    /// The same chunks, as a type that can fail with any error.
    var erased: FileContents { AnyFailure(base: self) }
}

private struct AnyFailure<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable where Base.Element == Data {
    typealias Element = Data
    typealias Failure = any Error
    let base: Base

    func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator
        mutating func next() async throws -> Data? {
            if let chunk = try await base.next() { return chunk }
            // A stream ends early when its task is cancelled, which must not pass for the end of the file.
            try Task.checkCancellation()
            return nil
        }
    }
}

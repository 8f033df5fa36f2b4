public import Foundation
public import Switchyard
import SwitchyardBytes
import Synchronization

extension MockFileStorageClient {
    public func upload(
        _ source: UploadSource, to path: FilePath, options: UploadOptions
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try checkOpen()
        try checkCustom(!options.custom.isEmpty)
        let parts = try UploadParts(source, partSize: partSize)
        if case .stream(nil, _) = source, !capabilities.unboundedUploads {
            throw .unsupported("uploads of unknown length", by: provider, instead: "Say how long it is.")
        }
        if let most = capabilities.maximumFileSize, let total = parts.total, total > most {
            throw FileStorageError(.tooLarge, "A file has at most \(most) bytes here.")
        }
        let id = Mutex<String?>(nil)
        let begin: @Sendable () throws(FileStorageError) -> String = { [self] () throws(FileStorageError) in
            if let known = id.withLock({ $0 }) { return known }
            let new = try server.beginUpload(to: path, options)
            id.withLock { $0 = new }
            setRunning(new, true)
            return new
        }
        return send(parts, path, from: 0, begin)
    }

    public func interruptedUploads() async throws(FileStorageError) -> [InterruptedUpload] {
        try checkOpen()
        return store.all.filter { !isRunning($0.id) }.map {
            InterruptedUpload(
                id: $0.id, path: FilePath(unchecked: $0.path), file: $0.file, completedBytes: $0.completed,
                totalBytes: $0.total)
        }
    }

    public func resumeUpload(
        _ id: InterruptedUpload.ID
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try checkOpen()
        guard capabilities.resumableUploads else {
            throw .unsupported("resumable uploads", by: provider, instead: "Start the upload anew.")
        }
        guard let kept = store.all.first(where: { $0.id == id }), !isRunning(id) else {
            throw FileStorageError(.notFound, "There is no interrupted upload of that name.")
        }
        guard let sent = server.read({ $0.uploads[id]?.contents }) else {
            store.remove(id)
            throw .uploadForgotten
        }
        let parts = try UploadParts(.file(kept.file), partSize: partSize)
        guard parts.total == kept.total, parts.hasPrefix(sent) else {
            throw FileStorageError(.changed, "The file is not what it was when the upload began.")
        }
        parts.skip(sent.count)
        setRunning(id, true)
        return send(parts, FilePath(unchecked: kept.path), from: Int64(sent.count)) { () throws(FileStorageError) in id
        }
    }

    private func send(
        _ parts: UploadParts, _ path: FilePath, from start: Int64,
        _ begin: @escaping @Sendable () throws(FileStorageError) -> String
    ) -> FileTransfer<FileMetadata> {
        let began = Mutex<String?>(nil)
        let transfer = MockTransfer(completed: start, total: parts.total) { [self] () async throws(FileStorageError) in
            _ = try await controls.enter(.uploadPart, path.rawValue, needsNetwork: true)
            let id = try begin()
            began.withLock { $0 = id }
            note(id, path, parts, completed: nil)
            guard let part = try await parts.next() else {
                if let total = parts.total, total != parts.position {
                    throw FileStorageError(.changed, "There were \(parts.position) bytes instead of \(total).")
                }
                let metadata = try server.finishUpload(id)
                try controls.leave()
                return .finished(metadata)
            }
            if let most = capabilities.maximumFileSize, Int64(parts.position) > most {
                throw FileStorageError(.tooLarge, "A file has at most \(most) bytes here.")
            }
            let completed = try server.append(part, to: id)
            note(id, path, parts, completed: completed)
            return .moved(completed: completed)
        } ended: { [self] failure in
            guard let id = began.withLock({ $0 }) else { return }
            setRunning(id, false)
            // What failed for the moment, or with the process, can go on; what was given up or refused cannot.
            let canGoOn = failure.map { $0.isRetryable || ($0.code == .cancelled && isShutDown) } ?? false
            if parts.file == nil || !canGoOn || !capabilities.resumableUploads {
                store.remove(id)
                server.abandonUpload(id)
            }
        }
        track(transfer)
        return FileTransfer(transfer)
    }

    private func note(_ id: String, _ path: FilePath, _ parts: UploadParts, completed: Int64?) {
        guard let file = parts.file, let total = parts.total, capabilities.resumableUploads else { return }
        let known = store.all.first { $0.id == id }?.completed ?? 0
        store.set(
            MockUploadStore.Kept(id: id, path: path.rawValue, file: file, total: total, completed: completed ?? known))
    }

    public func download(
        _ path: FilePath, to file: URL
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try checkOpen()
        let folder = file.deletingLastPathComponent()
        guard FileManager.default.fileExists(atPath: folder.path) else {
            throw FileStorageError(.localFile, "There is no folder for the downloaded file.")
        }
        let contents = Mutex<(stored: MockFiles.Stored, position: Int)?>(nil)
        let transfer = MockTransfer(completed: 0, total: nil) { [self] () async throws(FileStorageError) in
            _ = try await controls.enter(.downloadPart, path.rawValue, needsNetwork: true)
            let (stored, position) =
                if let known = contents.withLock({ $0 }) { known } else { (try server.stored(path), 0) }
            let end = min(position + partSize, stored.contents.count)
            contents.withLock { $0 = (stored, end) }
            guard end == stored.contents.count else { return .moved(completed: Int64(end)) }
            do {
                try stored.contents.write(to: file, options: .atomic)
            } catch {
                throw FileStorageError(.localFile, "The file cannot be written.", underlying: error)
            }
            return .finished(stored.metadata)
        } ended: { _ in
        }
        track(transfer)
        return FileTransfer(transfer)
    }
}

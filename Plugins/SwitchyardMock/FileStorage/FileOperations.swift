public import Foundation
public import Switchyard

/// The operations of ``MockFileStorageClient`` that a script can answer or make fail.
extension MockOperation where Failure == FileStorageError, Answer == FileMetadata {
    /// Each part of an upload is a separate call.
    public static var uploadPart: Self { Self("upload part") }
    public static var metadata: Self { Self("metadata") }
    public static var updateMetadata: Self { Self("update metadata") }
    public static var copy: Self { Self("copy") }
    public static var move: Self { Self("move") }
}
extension MockOperation where Failure == FileStorageError, Answer == Data {
    public static var data: Self { Self("data") }
    /// Each part of a download is a separate call.
    public static var downloadPart: Self { Self("download part") }
}
extension MockOperation where Failure == FileStorageError, Answer == FileList {
    public static var list: Self { Self("list") }
}
extension MockOperation where Failure == FileStorageError, Answer == URL {
    public static var downloadURL: Self { Self("download address") }
}
extension MockOperation where Failure == FileStorageError, Answer == Bool {
    public static var delete: Self { Self("delete") }
}

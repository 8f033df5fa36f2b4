import Foundation
import Switchyard
import SwitchyardBytes

extension FileConformance {
    static let contentChecks: [FileCheck] = [
        FileCheck("what was uploaded is read back") { context in
            let path = try context.path("a.txt")
            let stored = try await context.client.put(Data("hello".utf8), at: path)
            try expectEqual(stored.path, path, "the path")
            try expectEqual(stored.size, 5, "the size")
            try await context.expect(path, holds: Data("hello".utf8))
        },
        FileCheck("an empty file is a file") { context in
            let path = try context.path("empty")
            let stored = try await context.client.put(Data(), at: path)
            try expectEqual(stored.size, 0, "the size")
            try await context.expect(path, holds: Data())
        },
        FileCheck("every byte comes back, in a file of some size") { context in
            let path = try context.path("large.bin")
            let contents = context.bytes(3_000_017)
            try await context.client.put(contents, at: path)
            try await context.expect(path, holds: contents)
        },
        FileCheck("a file on this device is uploaded, in parts where it is large") { context in
            let path = try context.path("film.bin")
            let contents = context.bytes(14_000_003)
            let file = try context.localFile("film.bin", contents)
            let stored = try await context.client.upload(.file(file), to: path).result()
            try expectEqual(stored.size, 14_000_003, "the size")
            try await context.expect(path, holds: contents)
        },
        FileCheck("bytes are uploaded as they come") { context in
            let path = try context.path("stream.bin")
            let contents = context.bytes(500_000)
            let faucet = ControlledUpload()
            let transfer = try await context.client.upload(faucet.source(length: 500_000), to: path)
            for start in stride(from: 0, to: 500_000, by: 70_000) {
                faucet.pour(contents.subdata(in: start..<min(start + 70_000, 500_000)))
            }
            faucet.close()
            try expectEqual(try await transfer.result().size, 500_000, "the size")
            try await context.expect(path, holds: contents)
        },
        FileCheck("bytes of unknown number are uploaded as they come", needs: .unbounded) { context in
            let path = try context.path("stream.bin")
            let faucet = ControlledUpload()
            let transfer = try await context.client.upload(faucet.source(length: nil), to: path)
            for _ in 0..<20 { faucet.pour(context.bytes(50_000)) }
            faucet.close()
            try expectEqual(try await transfer.result().size, 1_000_000, "the size")
            try expectEqual(try await context.client.data(at: path).count, 1_000_000, "the number of bytes")
        },
        FileCheck("an upload whose bytes fail leaves no file") { context in
            let path = try context.path("broken.bin")
            let faucet = ControlledUpload()
            let transfer = try await context.client.upload(faucet.source(length: 300_000), to: path)
            faucet.pour(context.bytes(100_000))
            faucet.burst()
            do {
                _ = try await transfer.result()
                throw ConformanceFailure(expectation: "the upload fails", found: "success")
            } catch let error as FileStorageError {
                try expect(!error.isRetryable, "it is not worth a retry", found: error.description)
            }
            try await context.expectMissing(path)
        },
        FileCheck("an upload with fewer bytes than it said leaves no file") { context in
            let path = try context.path("short.bin")
            let faucet = ControlledUpload()
            let transfer = try await context.client.upload(faucet.source(length: 300_000), to: path)
            faucet.pour(context.bytes(100_000))
            faucet.close()
            try await context.expectFailure(.changed, .invalidArgument, .localFile, in: "the upload") {
                try await transfer.result()
            }
            try await context.expectMissing(path)
        },
        FileCheck("a second upload replaces the first") { context in
            let path = try context.path("a.txt")
            let first = try await context.client.put(Data("the first contents".utf8), at: path)
            let second = try await context.client.put(Data("second".utf8), at: path)
            try await context.expect(path, holds: Data("second".utf8))
            if let old = first.version, let new = second.version {
                try expect(old != new, "the version changes", found: "the same")
            }
        },
        FileCheck("an upload that must not replace fails where a file is, and leaves it") { context in
            let path = try context.path("a.txt")
            let options = UploadOptions(replacesExisting: false)
            try await context.client.put(Data("first".utf8), at: path, options: options)
            try await context.expectFailure(.alreadyExists, in: "the second upload") {
                try await context.client.put(Data("second".utf8), at: path, options: options)
            }
            try await context.expect(path, holds: Data("first".utf8))
        },
        FileCheck("a missing file on this device cannot be uploaded") { context in
            let nowhere = context.localFolder.appendingPathComponent("nowhere")
            try await context.expectFailure(.localFile, in: "the upload") {
                try await context.client.upload(.file(nowhere), to: context.path("a")).result()
            }
            try await context.expectMissing(context.path("a"))
        },
        FileCheck("twenty uploads at the same time all arrive") { context in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<20 {
                    group.addTask {
                        try await context.client.put(context.bytes(1000 + index), at: context.path("f\(index)"))
                    }
                }
                try await group.waitForAll()
            }
            for index in 0..<20 {
                try await context.expect(context.path("f\(index)"), holds: context.bytes(1000 + index))
            }
        },
        FileCheck("one device reads what another sent") { context in
            let path = try context.path("a.txt")
            try await context.device().put(Data("from afar".utf8), at: path)
            try await context.expect(path, holds: Data("from afar".utf8))
        },
        FileCheck("a file above the bound is refused", needs: .sizeBound) { context in
            let path = try context.path("huge")
            let size = Int(context.features.capabilities.maximumFileSize ?? 0) + 1
            try await context.expectFailure(.tooLarge, in: "the upload") {
                try await context.client.put(context.bytes(size), at: path)
            }
            try await context.expectMissing(path)
        },
    ].within("contents")

    static let metadataChecks: [FileCheck] = [
        FileCheck("the kind of contents follows from the name") { context in
            for (name, type) in [
                ("a.png", "image/png"), ("b.JPG", "image/jpeg"), ("c.txt", "text/plain"),
                ("d.json", "application/json"),
            ] {
                let stored = try await context.client.put(Data("x".utf8), at: context.path(name))
                try expect(
                    stored.contentType == type || stored.contentType.hasPrefix(type + ";"),
                    "the kind of “\(name)” is \(type)",
                    found: stored.contentType)
            }
        },
        FileCheck("contents of unknown kind are just bytes") { context in
            for name in ["plain", "what.ever-this-is"] {
                let stored = try await context.client.put(Data("x".utf8), at: context.path(name))
                try expectEqual(stored.contentType, "application/octet-stream", "the kind of contents")
            }
        },
        FileCheck("the kind of contents can be said") { context in
            let path = try context.path("a.txt")
            let options = UploadOptions(contentType: "application/x-own", cacheControl: "max-age=60")
            try await context.client.put(Data("x".utf8), at: path, options: options)
            let found = try await context.client.metadata(of: path)
            try expectEqual(found.contentType, "application/x-own", "the kind of contents")
            if let cacheControl = found.cacheControl {
                try expect(
                    cacheControl.includes("max-age=60"), "how long it may be kept is as said", found: cacheControl)
            }
        },
        FileCheck("the metadata say what was stored") { context in
            let path = try context.path("a.txt")
            let stored = try await context.client.put(Data("hello".utf8), at: path)
            let found = try await context.client.metadata(of: path)
            try expectEqual(found.path, path, "the path")
            try expectEqual(found.size, 5, "the size")
            try expectEqual(found.contentType, stored.contentType, "the kind of contents")
            if let md5 = found.md5 { try expectEqual(md5, "5d41402abc4b2a76b9719d911017c592", "the checksum") }
        },
        FileCheck("notes of the app's own are kept", needs: .customMetadata) { context in
            let path = try context.path("a.txt")
            let notes = ["owner": "alice", "note": "grüße, \"quoted\" & more", "empty": ""]
            try await context.client.put(Data("x".utf8), at: path, options: UploadOptions(custom: notes))
            try expectEqual(try await context.client.metadata(of: path).custom, notes, "the notes")
        },
        FileCheck("metadata can be changed, and the contents stay", needs: .customMetadata) { context in
            let path = try context.path("a.txt")
            try await context.client.put(
                Data("hello".utf8), at: path, options: UploadOptions(custom: ["keep": "1", "change": "2", "drop": "3"]))
            let changes = FileMetadataChanges(
                contentType: "text/markdown", custom: ["change": "20", "drop": nil, "new": "4"])
            let changed = try await context.client.updateMetadata(of: path, changes)
            try expectEqual(changed.contentType, "text/markdown", "the kind of contents")
            try expectEqual(changed.custom, ["keep": "1", "change": "20", "new": "4"], "the notes")
            let found = try await context.client.metadata(of: path)
            try expectEqual(found.contentType, "text/markdown", "the kind of contents, read anew")
            try expectEqual(found.custom, ["keep": "1", "change": "20", "new": "4"], "the notes, read anew")
            try await context.expect(path, holds: Data("hello".utf8))
        },
        FileCheck("a missing file has no metadata to read or change") { context in
            let path = try context.path("missing")
            try await context.expectMissing(path)
            try await context.expectFailure(.notFound, in: "the change") {
                try await context.client.updateMetadata(of: path, FileMetadataChanges(contentType: "text/plain"))
            }
        },
    ].within("metadata")
}

import Foundation
import Switchyard

extension FileConformance {
    static let transferChecks: [FileCheck] = [
        FileCheck("progress only ever grows, and ends when all is done") { context in
            let transfer = try await context.client.upload(.data(context.bytes(2_000_000)), to: context.path("a.bin"))
            let probe = context.watch(transfer.progress)
            _ = try await transfer.result()
            _ = try await probe.end()
            let seen = probe.elements.map(\.completedBytes)
            try expectEqual(seen, seen.sorted(), "the bytes done, step by step")
            let last = try expectValue(probe.elements.last, "a last step")
            try expectEqual(
                last, TransferProgress(phase: .finished, completedBytes: 2_000_000, totalBytes: 2_000_000),
                "the last step")
            try expectEqual(last.fraction, 1, "the fraction done")
        },
        FileCheck("progress can be followed by two, and by one who comes late") { context in
            let transfer = try await context.client.upload(.data(context.bytes(200_000)), to: context.path("a.bin"))
            let early = context.watch(transfer.progress)
            _ = try await transfer.result()
            let late = context.watch(transfer.progress)
            for probe in [early, late] {
                _ = try await probe.end()
                try expectEqual(probe.elements.last?.phase, .finished, "the last phase")
            }
        },
        FileCheck("the result can be asked for twice") { context in
            let transfer = try await context.client.upload(.data(context.bytes(1000)), to: context.path("a.bin"))
            let first = try await transfer.result()
            try expectEqual(try await transfer.result(), first, "the second answer")
        },
        FileCheck("an upload that is paused waits, and goes on") { context in
            let path = try context.path("a.bin")
            let contents = context.bytes(600_000)
            let faucet = ControlledUpload()
            let transfer = try await context.client.upload(faucet.source(length: 600_000), to: path)
            let probe = context.watch(transfer.progress)
            faucet.pour(contents.subdata(in: 0..<300_000))
            await transfer.pause()
            try await probe.newest("that it is paused") { $0.phase == .paused }
            faucet.pour(contents.subdata(in: 300_000..<600_000))
            faucet.close()
            await transfer.resume()
            try expectEqual(try await transfer.result().size, 600_000, "the size")
            try await context.expect(path, holds: contents)
        },
        FileCheck("an upload that is cancelled leaves no file") { context in
            let path = try context.path("a.bin")
            let faucet = ControlledUpload()
            let transfer = try await context.client.upload(faucet.source(length: 900_000), to: path)
            faucet.pour(context.bytes(300_000))
            await transfer.cancel()
            try await context.expectFailure(.cancelled, in: "the upload") { try await transfer.result() }
            try await context.expectMissing(path)
        },
        FileCheck("cancelling the one who waits cancels the upload") { context in
            let path = try context.path("a.bin")
            let faucet = ControlledUpload()
            let transfer = try await context.client.upload(faucet.source(length: 900_000), to: path)
            faucet.pour(context.bytes(100_000))
            let waiting = Task { try await transfer.result() }
            waiting.cancel()
            try await context.expectFailure(.cancelled, in: "the upload") { try await waiting.value }
            try await context.expectMissing(path)
        },
        FileCheck("pausing and cancelling what is over does no harm") { context in
            let path = try context.path("a.bin")
            let transfer = try await context.client.upload(.data(context.bytes(1000)), to: path)
            _ = try await transfer.result()
            await transfer.pause()
            await transfer.resume()
            await transfer.cancel()
            _ = try await transfer.result()
            try await context.expect(path, holds: context.bytes(1000))
        },
        FileCheck(
            "an upload that was cut off goes on after a restart", needs: .resumable, .keptUploads,
            deadline: .seconds(90)
        ) { context in
            let path = try context.path("film.bin")
            let contents = context.bytes(14_000_000)
            let file = try context.localFile("film.bin", contents)
            let device = try await context.device()
            let (reopened, interrupted) = try await interrupt(.file(file), to: path, on: device, context)
            try expectEqual(interrupted.path, path, "where it goes")
            try expectEqual(interrupted.totalBytes, 14_000_000, "how many bytes there are")
            try expect(
                interrupted.completedBytes < 14_000_000, "it is not done", found: "\(interrupted.completedBytes)")
            let transfer = try await reopened.resumeUpload(interrupted.id)
            try expectEqual(try await transfer.result().size, 14_000_000, "the size")
            try await context.expect(path, holds: contents)
            try expectEqual(try await reopened.interruptedUploads().count, 0, "the number of interrupted uploads")
        },
        FileCheck(
            "an upload does not go on with a file that has changed", needs: .resumable, .keptUploads,
            deadline: .seconds(90)
        ) { context in
            let path = try context.path("film.bin")
            let file = try context.localFile("film.bin", context.bytes(14_000_000))
            let device = try await context.device()
            let (reopened, interrupted) = try await interrupt(.file(file), to: path, on: device, context)
            try Data(repeating: 1, count: 13_999_999).write(to: file)
            try await context.expectFailure(.changed, in: "going on") {
                try await reopened.resumeUpload(interrupted.id).result()
            }
            try await context.expectMissing(path)
        },
        FileCheck("an upload that no one knows cannot go on", needs: .resumable) { context in
            try expectEqual(try await context.client.interruptedUploads().count, 0, "the number of interrupted uploads")
            try await context.expectFailure(.notFound, .uploadExpired, in: "going on") {
                try await context.client.resumeUpload("unknown-upload").result()
            }
        },
    ].within("transfers")

    private static func interrupt(
        _ source: UploadSource, to path: FilePath, on device: any FileStorageClient, _ context: FileContext
    ) async throws -> (any FileStorageClient, InterruptedUpload) {
        try await context.harness.cutOff(device, afterBytes: 7_000_000)
        let transfer = try await device.upload(source, to: path)
        let probe = context.watch(transfer.progress)
        try await probe.newest("a part of the bytes") { $0.completedBytes > 0 && $0.completedBytes < 14_000_000 }
        let reopened = try await context.restart(device)
        let uploads = try await reopened.interruptedUploads()
        try expectEqual(uploads.count, 1, "the number of interrupted uploads")
        return (reopened, uploads[0])
    }

    static let readingChecks: [FileCheck] = [
        FileCheck("a download makes a whole file") { context in
            let path = try context.path("a.bin")
            let contents = context.bytes(2_000_003)
            try await context.client.put(contents, at: path)
            let file = context.localFolder.appendingPathComponent("copy.bin")
            let transfer = try await context.client.download(path, to: file)
            let probe = context.watch(transfer.progress)
            try expectEqual(try await transfer.result().size, 2_000_003, "the size")
            try expect(try Data(contentsOf: file) == contents, "the file holds what was sent", found: "something else")
            _ = try await probe.end()
            try expectEqual(probe.elements.last?.phase, .finished, "the last phase")
        },
        FileCheck("a download replaces what was there") { context in
            let path = try context.path("a.txt")
            try await context.client.put(Data("new".utf8), at: path)
            let file = try context.localFile("copy.txt", Data("older and longer".utf8))
            _ = try await context.client.download(path, to: file).result()
            try expectEqual(try Data(contentsOf: file), Data("new".utf8), "the contents")
        },
        FileCheck("a download of what is not there leaves no file") { context in
            let file = context.localFolder.appendingPathComponent("copy.bin")
            try await context.expectFailure(.notFound, in: "the download") {
                try await context.client.download(context.path("missing"), to: file).result()
            }
            try expect(!FileManager.default.fileExists(atPath: file.path), "there is no file", found: "one")
        },
        FileCheck("a download into a folder that is not there fails") { context in
            let path = try context.path("a.txt")
            try await context.client.put(Data("x".utf8), at: path)
            let file = context.localFolder.appendingPathComponent("no/such/folder/copy.txt")
            try await context.expectFailure(.localFile, in: "the download") {
                try await context.client.download(path, to: file).result()
            }
        },
        FileCheck("what is not there cannot be read") { context in
            let path = try context.path("missing")
            let error = try await context.expectFailure(.notFound, in: "reading it") {
                try await context.client.data(at: path)
            }
            try expect(!error.isRetryable, "it is not worth a retry", found: "isRetryable")
            try await context.expectFailure(.notFound, in: "streaming it") {
                for try await _ in context.client.bytes(of: path) {}
            }
        },
        FileCheck("more than the limit is not read into memory") { context in
            let path = try context.path("a.bin")
            try await context.client.put(context.bytes(100_000), at: path)
            try await context.expectFailure(.tooLarge, in: "reading it") {
                try await context.client.data(at: path, limit: 99_999)
            }
            try expectEqual(
                try await context.client.data(at: path, limit: 100_000).count, 100_000, "the number of bytes")
        },
        FileCheck("a range gives just those bytes", needs: .ranges) { context in
            let path = try context.path("a.bin")
            let contents = context.bytes(100_000)
            try await context.client.put(contents, at: path)
            for range in [0..<1, 0..<100_000, 99_999..<100_000, 1234..<56_789, 50_000..<50_001] as [Range<Int64>] {
                let found = try await context.client.data(at: path, range: range, limit: 1 << 20)
                try expect(
                    found == contents.subdata(in: Int(range.lowerBound)..<Int(range.upperBound)), "the bytes \(range)",
                    found: "\(found.count) bytes that differ")
            }
        },
        FileCheck("a range beyond the end is refused", needs: .ranges) { context in
            let path = try context.path("a.bin")
            try await context.client.put(context.bytes(1000), at: path)
            try await context.expectFailure(.rangeNotSatisfiable, in: "reading it") {
                try await context.client.data(at: path, range: 2000..<3000, limit: 1 << 20)
            }
        },
        FileCheck("bytes come chunk by chunk, all of them") { context in
            let path = try context.path("a.bin")
            let contents = context.bytes(1_500_000)
            try await context.client.put(contents, at: path)
            var found = Data()
            for try await chunk in context.client.bytes(of: path) { found += chunk }
            try expect(found == contents, "the chunks are the contents", found: "\(found.count) bytes that differ")
        },
        FileCheck("a range comes chunk by chunk", needs: .ranges) { context in
            let path = try context.path("a.bin")
            let contents = context.bytes(500_000)
            try await context.client.put(contents, at: path)
            var found = Data()
            for try await chunk in context.client.bytes(of: path, range: 100_000..<400_001) { found += chunk }
            try expect(
                found == contents.subdata(in: 100_000..<400_001), "the chunks are the range",
                found: "\(found.count) bytes that differ")
        },
        FileCheck("reading may be broken off, and begun anew") { context in
            let path = try context.path("a.bin")
            let contents = context.bytes(1_000_000)
            try await context.client.put(contents, at: path)
            let stream = context.client.bytes(of: path)
            for try await _ in stream { break }
            var count = 0
            for try await chunk in stream { count += chunk.count }
            try expectEqual(count, 1_000_000, "the number of bytes the second time")
        },
        FileCheck("a file that rules forbid cannot be read", needs: .forbiddenFile) { context in
            let path = try await context.harness.forbiddenFile(in: context.namespace)
            try await context.expectFailure(.unauthorized, .unauthenticated, .notFound, in: "reading it") {
                try await context.client.data(at: path)
            }
        },
    ].within("reading")
}

import SwitchyardBytes
import Synchronization

extension WorkQueue {
    /// Works until the task is cancelled: claims jobs when they become due, extends their leases while `body` runs, and
    /// marks each as done or failed. A live query announces new jobs, and the queue is checked from time to time as well.
    ///
    /// Cancelling it claims no more jobs and cancels the running bodies; jobs whose bodies end because of that are given
    /// back at once.
    ///
    /// - Parameters:
    ///   - parallel: How many jobs run at the same time.
    ///   - body: Does the job. If it throws, the job is tried again after a pause, and the error is stored with it. It is
    ///     cancelled if the lease is lost.
    /// - Throws: What makes all work impossible: `.unauthorized`, `.unauthenticated`, `.unsupported`, `.shutDown`. It waits
    ///   while the server cannot be reached.
    public func run(
        parallel: Int = 1, _ body: @escaping @Sendable (Job<Payload>) async throws -> Void
    ) async throws(StorageError) {
        guard storage.capabilities.transactions else {
            throw .unsupported("a queue of work", by: storage.provider, instead: "Use a storage with transactions.")
        }
        let (wakes, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let running = Running()
        // One that discards its children: another kind would keep each finished job until the end.
        let outcome: Result<Void, StorageError> = await withDiscardingTaskGroup { group in
            group.addTask { await listen(bell) }
            defer { group.cancelAll() }
            var wakes = wakes.makeAsyncIterator()
            while !Task.isCancelled {
                var pause = options.pollInterval
                do throws(StorageError) {
                    let jobs = try await claim(upTo: max(1, parallel) - running.count)
                    for job in jobs {
                        running.begin()
                        group.addTask {
                            await work(on: job, body)
                            running.end()
                            bell.yield()
                        }
                    }
                    if running.count < parallel {
                        if !jobs.isEmpty { continue }
                        pause = try await pauseUntilNext()
                    }
                } catch {
                    if Task.isCancelled { break }
                    if Self.isFinal(error) { return .failure(error) }
                    pause = max(error.retryAfter ?? .zero, min(.seconds(2), options.pollInterval))
                }
                let alarm = Task { [clock = storage.clock] in
                    try await clock.sleep(for: pause)
                    bell.yield()
                }
                _ = await wakes.next()
                alarm.cancel()
            }
            return .success(())
        }
        try outcome.get()
    }

    private static func isFinal(_ error: StorageError) -> Bool {
        [.unauthorized, .unauthenticated, .unsupported, .shutDown, .invalidArgument, .failedPrecondition]
            .contains(error.code)
    }

    /// Rings when the head of the queue has changed.
    private func listen(_ bell: AsyncStream<Void>.Continuation) async {
        guard storage.capabilities.liveStreams else { return }
        let head = Query(in: collection).ordered(by: "availableAt").limited(to: 1)
        while !Task.isCancelled {
            do throws(StorageError) {
                for try await _ in storage.snapshots(of: head) { bell.yield() }
                return
            } catch {
                if Self.isFinal(error) { return }
            }
            guard (try? await storage.clock.sleep(for: options.pollInterval)) != nil else { return }
        }
    }

    /// How long until the first job is due.
    private func pauseUntilNext() async throws(StorageError) -> Duration {
        let head = Query(in: collection).ordered(by: "availableAt").limited(to: 1)
        let first = try await storage.documents(head, from: .server).documents.first
        guard case .timestamp(let due)? = first?["availableAt"] else { return options.pollInterval }
        return min(max(due.timeSince(now()), .milliseconds(10)), options.pollInterval)
    }

    private enum Ending: Sendable {
        case done
        case failed(String)
        case leaseLost
    }

    private func work(on job: Job<Payload>, _ body: @escaping @Sendable (Job<Payload>) async throws -> Void) async {
        let ending = await withTaskGroup(of: Ending?.self) { group in
            group.addTask {
                do {
                    try await body(job)
                    return .done
                } catch {
                    return .failed("\(error)")
                }
            }
            group.addTask { await keep(job) ? nil : .leaseLost }
            var ending: Ending?
            while ending == nil, let next = await group.next() { ending = next }
            group.cancelAll()
            // The body decides the outcome, also if it ends because the lease was lost.
            while let next = await group.next() { if case .done? = next { ending = next } }
            return ending
        }
        let wasCancelled = Task.isCancelled
        // A worker that is being stopped still marks the job. Without an answer, the lease ends, and another worker does it
        // again.
        await Task {
            let end = now().advanced(by: options.lease)
            _ = await wait(until: end) { () throws(StorageError) in
                switch ending {
                case .done: try await finish(job)
                case .failed where wasCancelled: try await giveBack(job)
                case .failed(let reason): try await fail(job, because: reason)
                case .leaseLost, nil: break
                }
            }
        }.value
    }

    /// Extends the lease while the job runs.
    ///
    /// - Returns: Whether this worker still has it. `false` a little before the lease ends, so that the body has stopped when
    ///   another worker may begin.
    private func keep(_ job: Job<Payload>) async -> Bool {
        var job = job
        while (try? await storage.clock.sleep(for: options.lease / 3)) != nil {
            let current = job
            let end = job.leaseEnd.advanced(by: .zero - margin)
            switch await wait(until: end, for: { () throws(StorageError) in try await extend(current) }) {
            case .success(let longer): job = longer
            case .failure(let error):
                if error.code == .aborted, !error.isRetryable { return false }
                // Without an answer, it continues until another worker may have the job.
                if isEnding(job) { return Task.isCancelled }
            }
        }
        return true
    }

    private var margin: Duration { options.lease / 10 }
    private func isEnding(_ job: Job<Payload>) -> Bool { now().advanced(by: margin) >= job.leaseEnd }

    /// Waits for a call until `end`, even for one that cannot be cancelled.
    private func wait<Value: Sendable>(
        until end: Timestamp, for body: @escaping @Sendable () async throws(StorageError) -> Value
    ) async -> Result<Value, StorageError> {
        let answer = Promise<Result<Value, StorageError>>()
        let calling = Task {
            do throws(StorageError) { answer.resolve(.success(try await body())) } catch {
                answer.resolve(.failure(error))
            }
        }
        let late = StorageError(.deadlineExceeded, "The lease ended before the server answered.")
        let waiting = Task {
            while now() < end {
                let left = max(end.timeSince(now()), .milliseconds(1))
                guard (try? await storage.clock.sleep(for: left)) != nil else { return }
            }
            answer.resolve(.failure(late))
        }
        defer {
            calling.cancel()
            waiting.cancel()
        }
        return await answer.value ?? .failure(late)
    }
}

/// Counts the running jobs.
private final class Running: Sendable {
    private let number = Atomic(0)
    var count: Int { number.load(ordering: .relaxed) }
    func begin() { number.add(1, ordering: .relaxed) }
    func end() { number.subtract(1, ordering: .relaxed) }
}

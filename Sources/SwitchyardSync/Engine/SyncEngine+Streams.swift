import Switchyard

/// Timers and the two streams. Each stream has a generation, so that late messages of an ended one are ignored.
extension SyncEngine {
    // MARK: Timers

    func schedule(_ timer: SyncTimer, _ delay: SyncDelay) {
        if timer.mayFireLate, timers[timer] != nil {
            timers[timer]?.afterSleep = .sleepAgain
            return
        }
        cancel(timer)
        timerGeneration += 1
        let generation = timerGeneration
        let pause = delay.duration(isFirstImmediate: timer != .recovery, chance)
        if timer == .writerBackoff { trouble?.nextAttempt = timestamp.later(by: pause) }
        let task = Task.detached { [weak self, clock] in
            var sleeps = true
            while sleeps, (try? await clock.sleep(for: pause)) != nil {
                sleeps = await self?.wokeUp(timer, generation) ?? false
            }
        }
        timers[timer] = SetTimer(generation: generation, task: task)
    }

    func cancel(_ timer: SyncTimer) {
        if timer.mayFireLate {
            timers[timer]?.afterSleep = .nothing
        } else {
            timers.removeValue(forKey: timer)?.task.cancel()
        }
    }

    /// A timer that was cancelled at the moment it fired is ignored.
    ///
    /// - Returns: Whether it sleeps again.
    private func wokeUp(_ timer: SyncTimer, _ generation: Int) -> Bool {
        guard let woken = timers[timer], woken.generation == generation else { return false }
        if woken.afterSleep == .sleepAgain {
            timers[timer]?.afterSleep = .fire
            return true
        }
        timers[timer] = nil
        if woken.afterSleep == .fire { feed(.timer(timer)) }
        return false
    }

    // MARK: Changes

    func openWatch() {
        watchGeneration += 1
        let generation = watchGeneration
        watchTask = Task.detached { [weak self, driver] in
            do throws(StorageError) {
                let connection = try await driver.openWatch()
                guard let self, await self.adopt(connection, generation) else {
                    connection.close()
                    return
                }
                while let event = try await connection.next() { await self.watched(event, generation) }
                await self.watchEnded(nil, generation)
            } catch {
                await self?.watchEnded(error, generation)
            }
        }
    }

    private func adopt(_ connection: any WatchConnection, _ generation: Int) -> Bool {
        guard generation == watchGeneration, !isShutDown else { return false }
        self.connection = connection
        feed(.watchOpened)
        return true
    }

    private func watched(_ event: WatchEvent, _ generation: Int) {
        guard generation == watchGeneration else { return }
        if case .snapshot = event { noteAnswer() }
        feed(.watched(event))
    }

    private func watchEnded(_ error: StorageError?, _ generation: Int) {
        guard generation == watchGeneration else { return }
        connection = nil
        feed(.watchClosed(error))
    }

    func closeWatch() {
        watchGeneration += 1
        watchTask?.cancel()
        watchTask = nil
        connection?.close()
        connection = nil
    }

    // MARK: Writes

    /// There is nothing to open before the first batch; the machine is notified in its own turn.
    func openWriter() {
        beginWriterGeneration()
        emptyOutbox()
        trouble?.nextAttempt = nil
        let generation = writerGeneration
        Task.detached { [weak self] in await self?.writerIsOpen(generation) }
    }

    private func writerIsOpen(_ generation: Int) {
        if generation == writerGeneration { feed(.writerOpened) }
    }

    func closeWriter() {
        beginWriterGeneration()
        emptyOutbox()
    }

    private func beginWriterGeneration() {
        writerGeneration += 1
        sendingGate.open(for: writerGeneration)
    }

    /// Remembers batches that were never sent: the machine considers them sent, and would look them up.
    private func emptyOutbox() {
        unsentBatchIDs.formUnion(outbox.lazy.filter { !$0.mayHaveBeenSent }.map(\.id))
        outbox = []
        unmergedBatchCount = 0
    }

    func send(_ batch: OutgoingBatch) {
        var batch = batch
        if unsentBatchIDs.remove(batch.id) != nil { batch.mayHaveBeenSent = false }
        outbox.append(batch)
        if !isCommitting { commitNext() }
    }

    /// One request at a time, even across the end of a stream: an abandoned commit may still be in progress.
    ///
    /// - Parameter chosen: The batches to send; by default, decided when the task runs, so that concurrent writes share a
    ///   request.
    private func commitNext(_ chosen: OutgoingRequest? = nil) {
        guard chosen != nil || !outbox.isEmpty else { return }
        isCommitting = true
        showStatus()
        // What was chosen is sent while this task still deals with the last answer, so elsewhere.
        let executor = chosen == nil ? commitExecutor : nil
        committing = Task.detached(executorPreference: executor) { [weak self, driver, gate = sendingGate] in
            var request = chosen
            if request == nil { request = await self?.nextRequest() }
            guard let request else { return }
            let results: Result<[CommitResult], StorageError>
            do throws(StorageError) {
                results = .success(try await SyncEngine.commit(request, to: driver, through: gate))
            } catch {
                results = .failure(error)
            }
            await self?.commitEnded(request, results)
        }
    }

    /// The driver's own, for what takes microseconds: transfers wait for what runs there, and must not wait for a disk.
    private var commitExecutor: (any TaskExecutor)? {
        let count = outbox.reduce(0) { $0 + $1.writes.count }
        return keepsOnDisk || count > Self.fewWrites ? nil : driver.executor
    }

    /// `nil`, with nothing in progress any more, if the batches have been abandoned meanwhile.
    private func nextRequest() -> OutgoingRequest? {
        isCommitting = !outbox.isEmpty && !isShutDown
        return isCommitting ? takeFromOutbox() : nil
    }

    private static func commit(
        _ request: OutgoingRequest, to driver: any SyncDriver, through gate: SendingGate
    ) async throws(StorageError) -> [CommitResult] {
        if request.batches.count > 1 {
            try gate.pass(request.generation)
            return try await driver.commit(request.batches)
        }
        let batch = request.batches[0]
        if batch.isAddition {
            try gate.pass(request.generation)
            var (document, result) = try await driver.add(batch)
            result.added = document
            return [result]
        }
        if batch.mayHaveBeenSent, driver.traits.hasLedger {
            if let known = try await outcome(of: batch, from: driver) { return [known] }
            // Shut down meanwhile; the driver must not be called any more.
            guard !Task.isCancelled else { throw StorageError(.cancelled, "The client was shut down.") }
        }
        try gate.pass(request.generation)
        return [try await driver.commit(batch)]
    }

    /// If the ledger cannot be read, the outcome is unknown.
    private static func outcome(
        of batch: OutgoingBatch, from driver: any SyncDriver
    ) async throws(StorageError) -> CommitResult? {
        do throws(StorageError) {
            return try await driver.result(of: batch)
        } catch {
            throw error.asRefusal(false)
        }
    }

    /// The next batch, or several that may go together.
    private func takeFromOutbox() -> OutgoingRequest {
        var count = 1
        if unmergedBatchCount > 0 {
            unmergedBatchCount -= 1
        } else if driver.traits.mergesBatches, outbox[0].mayShareRequest {
            var writes = outbox[0].writes.count
            while count < outbox.count, outbox[count].mayShareRequest {
                writes += outbox[count].writes.count
                guard writes <= SyncEngine.maximumMergedWrites else { break }
                count += 1
            }
        }
        defer { outbox.removeFirst(count) }
        let batches = Array(outbox[..<count])
        writes.began(batches)
        return OutgoingRequest(batches: batches, generation: writerGeneration)
    }

    private func commitEnded(_ request: OutgoingRequest, _ results: Result<[CommitResult], StorageError>) {
        let generation = request.generation
        var isNextUnderWay = false
        writes.ended(request.batches)
        noteContact(results)
        defer {
            writes.returned(request.batches)
            showStatus()
        }
        if generation == writerGeneration {
            switch results {
            case .success(let results):
                putBack(request.batches.dropFirst(results.count))
                // The next batch is sent while this answer is saved. If none waits, batches arriving with the answer may
                // share a request.
                isNextUnderWay = !outbox.isEmpty
                trouble = nil
                if isNextUnderWay { commitNext(takeFromOutbox()) }
                for (batch, result) in zip(request.batches, results) where generation == writerGeneration {
                    for id in openReads.keys { openReads[id]?.note(batch, result) }
                    feed(.committed(result))
                    committed()
                }
            case .failure(let error): commitFailed(request.batches, error)
            }
        } else if case .failure(let error) = results, error.underlying is SendingGate.IsClosed {
            holdBack(request)
        }
        guard !isNextUnderWay else { return }
        isCommitting = false
        commitNext()
    }

    private func noteContact(_ results: Result<[CommitResult], StorageError>) {
        switch results {
        case .success: noteAnswer()
        case .failure(let error) where error.isRefusal: noteAnswer()
        case .failure(let error): statusWatchers.noteFailure(error)
        }
    }

    /// Batches that a shared request did not reach. The first one is sent separately, to learn why.
    private func putBack(_ batches: ArraySlice<OutgoingBatch>) {
        guard !batches.isEmpty else { return }
        outbox = batches + outbox
        unmergedBatchCount = 1
    }

    /// As ``emptyOutbox()`` for a request that was taken from the outbox and not sent.
    private func holdBack(_ request: OutgoingRequest) {
        guard request.generation >= firstHeldGeneration else { return }
        for batch in request.batches where !batch.mayHaveBeenSent {
            // It may wait for its turn again by now.
            if let place = outbox.firstIndex(where: { $0.id == batch.id }) {
                outbox[place].mayHaveBeenSent = false
            } else {
                unsentBatchIDs.insert(batch.id)
            }
        }
    }

    private func commitFailed(_ batches: [OutgoingBatch], _ error: StorageError) {
        if batches.count > 1, error.isRefusal {
            // Nothing was carried out. Only the batch that caused this must be refused.
            outbox = batches + outbox
            unmergedBatchCount = batches.count
        } else {
            emptyOutbox()
            if error.isRefusal { trouble = nil } else { noteTrouble(error, sending: batches[0].id) }
            feed(.writerClosed(error, at: timestamp))
        }
    }
}

extension OutgoingBatch {
    fileprivate var mayShareRequest: Bool { !mayHaveBeenSent && !isAddition }
}

/// Batches sent in one request, and the writer generation that they belong to.
struct OutgoingRequest: Sendable {
    let batches: [OutgoingBatch]
    let generation: Int
}

/// A timer whose task is asleep.
struct SetTimer {
    /// What the task has to do when it wakes.
    enum AfterSleep { case fire, sleepAgain, nothing }

    let generation: Int
    let task: Task<Void, Never>
    var afterSleep = AfterSleep.fire
}

extension SyncTimer {
    /// Set and cancelled with every write or listener, and not needed precisely: its task keeps sleeping meanwhile, and may
    /// fire as late as twice its pause.
    fileprivate var mayFireLate: Bool { self == .writerIdle || self == .watchIdle }
}

extension Timestamp {
    fileprivate func later(by pause: Duration) -> Timestamp {
        let (seconds, fraction) = pause.components
        return Timestamp(microseconds: microseconds + seconds * 1_000_000 + fraction / 1_000_000_000_000)
    }
}

extension SyncDelay {
    /// One second at first, growing by half each time up to a minute, and varied randomly by up to half.
    ///
    /// - Parameter isFirstImmediate: Whether the first retry needs no pause.
    package func duration(isFirstImmediate: Bool, _ chance: () -> Double) -> Duration {
        switch self {
        case .seconds(let seconds): return .seconds(seconds)
        case .backoff(let attempt, let isOverloaded):
            var base = isOverloaded ? 60.0 : 1.0
            if !isOverloaded {
                if isFirstImmediate && attempt <= 1 { return .zero }
                for _ in 1..<max(1, attempt - (isFirstImmediate ? 1 : 0)) { base = min(base * 1.5, 60) }
            }
            return .milliseconds(Int(base * 1000 * (0.5 + chance())))
        }
    }
}

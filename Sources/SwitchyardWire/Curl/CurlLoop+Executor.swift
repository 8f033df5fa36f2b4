#if os(Linux)
    // Tasks that prefer the loop's thread: their pieces are commands like others, so transfers have their turn between
    // any two of them.
    extension CurlLoop: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            // A preference, not a promise: when the loop has ended the tasks go on elsewhere.
            if !submit(.run(job)) { globalConcurrentExecutor.enqueue(job) }
        }

        func run(_ job: UnownedJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
#endif

#if os(Linux)
    // Jobs of tasks that prefer the loop's thread are commands like others, so transfers get their turn between any two of
    // them.
    extension CurlLoop: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            // Only a preference: if the loop has ended, the task continues elsewhere.
            if !submit(.run(job)) { globalConcurrentExecutor.enqueue(job) }
        }

        func run(_ job: UnownedJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
#endif

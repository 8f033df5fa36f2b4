/// Waits until the task is cancelled, without using time or a thread.
package func untilCancelled() async {
    let (events, continuation) = AsyncStream<Void>.makeStream()
    for await _ in events {}
    continuation.finish()
}

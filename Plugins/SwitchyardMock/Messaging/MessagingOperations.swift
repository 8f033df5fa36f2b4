public import Switchyard

/// The operations of ``MockMessagingClient`` and ``MockMessageSender`` that a script can answer or make fail.
extension MockOperation where Failure == MessagingError, Answer == MessagingToken {
    public static var token: Self { Self("token") }
}
extension MockOperation where Failure == MessagingError, Answer == MessagingPermission {
    public static var requestPermission: Self { Self("request permission") }
}
extension MockOperation where Failure == MessagingError, Answer == String {
    /// One per message, also for messages sent together. For ``MockMessageSender``.
    public static var sendMessage: Self { Self("send message") }
}
extension MockOperation where Failure == MessagingError, Answer == Bool {
    public static var deleteToken: Self { Self("delete token") }
    public static var setPlatformToken: Self { Self("set platform token") }
    public static var subscribe: Self { Self("subscribe") }
    public static var unsubscribe: Self { Self("unsubscribe") }
}

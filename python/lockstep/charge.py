"""What a rank computes beside its calls, where somebody charges for that
(roofline): calls start when the device has what they send, and the device goes
on when they are over."""

device = None  # has before_call() and after_call()


def before_call():
    if device is not None:
        device.before_call()


def after_call():
    if device is not None:
        device.after_call()

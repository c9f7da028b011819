// The front door of "offstage/testing": what users and driver authors test with, listed by hand.

export {};

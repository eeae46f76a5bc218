import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

const schedule = RequestQueue.prototype.scheduleCheckPendingRequests;

/**
 * kafkajs 2.2.4 sets a timer after each response, to send what waits, and computes a time long past for it when nothing
 * does; Node then warns of a negative time-out on standard error. With nothing waiting there is nothing to set.
 */
RequestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
  if (this.pending.length > 0) schedule.call(this);
};
